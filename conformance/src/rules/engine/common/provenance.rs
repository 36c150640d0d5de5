//! Provenance

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("version", || provenance_string("version")),
    Rule::new("build-commit", || provenance_string("build_commit")),
    Rule::new("build-timestamp", || provenance_string("build_timestamp")),
    Rule::new("build-host", || provenance_string("build_host")),
    Rule::new("undefined-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/b?provenance=true")
                    .keep(kind("/provenance", Kind::Object))
                    .keep(lacks("/result")),
            )
    }),
];

/// A read with provenance, of which one field is looked at.
fn provenance_string(field: &str) -> Scenario {
    scenario()
        .given(put("/v1/data/{ns}/a").json(json!(1)))
        .when(
            get("/v1/data/{ns}/a?provenance=true")
                .keep(kind(format!("/provenance/{field}"), Kind::String)),
        )
}
