//! Decision response envelope

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-any-json", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({
                "false": false,
                "null": null,
                "zero": 0,
                "string": "",
                "array": [],
                "object": {},
            })))
            .each(
                ["false", "null", "zero", "string", "array", "object"],
                |scenario, name| {
                    scenario.when(get(format!("/v1/data/{{ns}}/{name}")).keep(at("/result")))
                },
            )
    }),
    Rule::new("metrics-is-object", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a?metrics=true").keep(kind("/metrics", Kind::Object)))
    }),
    Rule::new("provenance-is-object", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a?provenance=true").keep(kind("/provenance", Kind::Object)))
            .when(get("/v1/data/{ns}/a").keep(lacks("/provenance")))
    }),
    Rule::new("decision-id-with-logging", || {
        scenario()
            .setup("decision-logs")
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a").keep(kind("/decision_id", Kind::String)))
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .keep(kind("/decision_id", Kind::String)),
            )
    }),
    Rule::new("decision-id-absent-without-logging", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a")
                    .keep(at("/result"))
                    .keep(lacks("/decision_id")),
            )
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .keep(at("/result"))
                    .keep(lacks("/decision_id")),
            )
    }),
];
