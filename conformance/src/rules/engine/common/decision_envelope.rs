//! Decision response envelope

use crate::rules::engine::v1::data::put::{EMPTY, empty_values};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-any-json", || {
        scenario()
            .given(put("/v1/data/{ns}").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                scenario.when(get(format!("/v1/data/{{ns}}/{name}")).expect(at("/result")))
            })
    }),
    Rule::new("metrics-is-object", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a?metrics=true").expect(kind("/metrics", Kind::Object)))
    }),
    Rule::new("provenance-is-object", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a?provenance=true").expect(kind("/provenance", Kind::Object)))
            .when(get("/v1/data/{ns}/a").expect(lacks("/provenance")))
    }),
    Rule::new("decision-id-with-logging", || {
        scenario()
            .setup("decision-logs")
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            // The second path is undefined.
            .each(["a", "b"], |scenario, path| {
                let path = format!("/v1/data/{{ns}}/{path}");
                let input = json!({"input": {"who": "alice"}});
                scenario
                    .when(get(&path).expect(kind("/decision_id", Kind::String)))
                    .when(
                        post(&path)
                            .json(input)
                            .expect(kind("/decision_id", Kind::String)),
                    )
            })
    }),
    Rule::new("decision-id-identifies", || {
        let read_document = || get("/v1/data/{ns}/a");
        let first_get = read_document().expect(kind("/decision_id", Kind::String));
        let post_document = post("/v1/data/{ns}/a").json(json!({"input": {"who": "alice"}}));
        let first_post = post_document.clone().capture("second", "/decision_id");
        scenario()
            .setup("decision-logs")
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(first_get.capture("first", "/decision_id"))
            .when(read_document().expect(other_than("/decision_id", "first")))
            .when(first_post.expect(other_than("/decision_id", "first")))
            .when(
                post_document
                    .expect(other_than("/decision_id", "first"))
                    .expect(other_than("/decision_id", "second")),
            )
    }),
    // Needs a server that the suite starts: only such a server is known not to log decisions.
    Rule::new("decision-id-absent-without-logging", || {
        scenario()
            .fresh()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a")
                    .expect(at("/result"))
                    .expect(lacks("/decision_id")),
            )
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(at("/result"))
                    .expect(lacks("/decision_id")),
            )
    }),
];
