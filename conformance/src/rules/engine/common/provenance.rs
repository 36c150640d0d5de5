//! Provenance

use crate::rules::engine::mock::{activated, bundle, loaded, pending, put_fixture};
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
                    .expect(kind("/provenance", Kind::Object))
                    .expect(lacks("/result")),
            )
            .when(
                post("/v1/data/{ns}/b?provenance=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(kind("/provenance", Kind::Object))
                    .expect(lacks("/result")),
            )
    }),
    Rule::new("only-when-asked", || {
        let scenario = scenario().given(put("/v1/data/{ns}/a").json(json!(1)));
        scenario.each(["", "?provenance=false"], |scenario, query| {
            let path = format!("/v1/data/{{ns}}/a{query}");
            let input = json!({"input": {"who": "alice"}});
            scenario
                .when(
                    get(&path)
                        .expect(at("/result"))
                        .expect(lacks("/provenance")),
                )
                .when(
                    post(path)
                        .json(input)
                        .expect(at("/result"))
                        .expect(lacks("/provenance")),
                )
        })
    }),
    Rule::new("revision-omitted-with-bundles", || {
        with_bundles(|step| {
            step.expect(kind("/provenance", Kind::Object))
                .expect(lacks("/provenance/revision"))
        })
    }),
    Rule::new("bundles-by-name", || {
        with_bundles(|step| {
            step.expect(kind("/provenance/bundles/rules", Kind::Object))
                .expect(kind("/provenance/bundles/limits", Kind::Object))
        })
    }),
    Rule::new("bundle-revision", || {
        with_bundles(|step| {
            step.expect(at("/provenance/bundles/rules/revision"))
                .expect(at("/provenance/bundles/limits/revision"))
        })
    }),
    Rule::new("bundle-without-revision", || {
        let mut without_revision = bundle("limits", "l1");
        if let Some(manifest) = without_revision.pointer_mut("/bundle/.manifest") {
            *manifest = json!({"roots": ["limits"]});
        }
        let revision = |bundle: &str| format!("/provenance/bundles/{bundle}/revision");
        pending()
            .given(put_fixture("rules", bundle("rules", "r1")))
            .given(put_fixture("limits", without_revision))
            .given(activated())
            .when(
                get("/v1/data/limits/answer?provenance=true")
                    .expect(at(revision("rules")))
                    .expect(kind("/provenance/bundles/limits", Kind::Object))
                    .expect(kind_among(revision("limits"), &[Kind::Text, Kind::Absent])),
            )
    }),
];

/// Requests a decision of an active bundle by GET and by POST, with its provenance.
fn with_bundles(judge: impl Fn(Step) -> Step) -> Scenario {
    loaded()
        .when(judge(get("/v1/data/rules/answer?provenance=true")))
        .when(judge(
            post("/v1/data/rules/answer?provenance=true").json(json!({"input": {"who": "alice"}})),
        ))
}

/// Expects this type of one field of the provenance of a read.
fn provenance(field: &str, expected: Kind) -> Scenario {
    scenario()
        .given(put("/v1/data/{ns}/a").json(json!(1)))
        .when(
            get("/v1/data/{ns}/a?provenance=true")
                .expect(kind(format!("/provenance/{field}"), expected)),
        )
}
