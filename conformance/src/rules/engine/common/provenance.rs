//! Provenance

use crate::rules::engine::depot::loaded;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("version", || provenance("version", Kind::Text)),
    Rule::new("build-commit", || provenance("build_commit", Kind::String)),
    Rule::new("build-timestamp", || {
        provenance("build_timestamp", Kind::String)
    }),
    Rule::new("build-host", || provenance("build_host", Kind::String)),
    Rule::new("undefined-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/b?provenance=true")
                    .keep(kind("/provenance", Kind::Object))
                    .keep(lacks("/result")),
            )
    }),
    Rule::new("revision-omitted-with-bundles", || {
        with_bundles(|step| {
            step.keep(kind("/provenance", Kind::Object))
                .keep(lacks("/provenance/revision"))
        })
    }),
    Rule::new("bundles-by-name", || {
        with_bundles(|step| {
            step.keep(kind("/provenance/bundles/rules", Kind::Object))
                .keep(kind("/provenance/bundles/limits", Kind::Object))
        })
    }),
    Rule::new("bundle-revision", || {
        with_bundles(|step| {
            step.keep(at("/provenance/bundles/rules/revision"))
                .keep(at("/provenance/bundles/limits/revision"))
        })
    }),
];

/// A decision of an active bundle, read and asked for with its provenance.
fn with_bundles(judge: impl Fn(Step) -> Step) -> Scenario {
    loaded()
        .when(judge(get("/v1/data/rules/answer?provenance=true")))
        .when(judge(
            post("/v1/data/rules/answer?provenance=true").json(json!({"input": {"who": "alice"}})),
        ))
}

/// A read with provenance, of which one field is looked at.
fn provenance(field: &str, of: Kind) -> Scenario {
    scenario()
        .given(put("/v1/data/{ns}/a").json(json!(1)))
        .when(get("/v1/data/{ns}/a?provenance=true").keep(kind(format!("/provenance/{field}"), of)))
}
