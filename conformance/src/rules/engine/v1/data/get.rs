//! GET /v1/data/{path}

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("defined-document-answers-ok", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a").keep(status()))
    }),
    Rule::new("result-holds-document", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({
                "object": {"name": "alice", "roles": ["admin"]},
                "array": [1, "two", null],
                "string": "text",
                "number": 1.5,
                "boolean": true,
                "null": null,
            })))
            .each(
                ["object", "array", "string", "number", "boolean", "null"],
                |scenario, name| {
                    scenario.when(get(format!("/v1/data/{{ns}}/{name}")).keep(at("/result")))
                },
            )
    }),
    Rule::new("undefined-answers-ok", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/b").keep(status()))
    }),
    Rule::new("undefined-omits-result", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a").keep(at("/result")))
            .when(get("/v1/data/{ns}/b").keep(body()))
    }),
    Rule::new("gzip-response-on-request", || {
        scenario()
            .given(
                put("/v1/data/{ns}").json(json!({"name": "long", "filler": "text ".repeat(4000)})),
            )
            .when(
                get("/v1/data/{ns}")
                    .header("Accept-Encoding", "gzip")
                    .keep(header("Content-Encoding"))
                    .keep(at("/result/name")),
            )
    }),
    Rule::new("malformed-input-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?input=%7B%22who%22%3A")
                    .off_contract("the input is cut off")
                    .keep(status()),
            )
    }),
    Rule::new("pretty-keeps-envelope", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(get("/v1/data/{ns}/a?pretty=true").keep(at("/result")))
    }),
    Rule::new("provenance-on-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?provenance=true")
                    .keep(kind("/provenance", Kind::Object))
                    .keep(at("/result")),
            )
    }),
    Rule::new("metrics-on-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?metrics=true")
                    .keep(kind("/metrics", Kind::Object))
                    .keep(at("/result")),
            )
    }),
    Rule::new("instrument-adds-superset", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?instrument=true")
                    .keep(kind("/metrics/timer_rego_query_eval_ns", Kind::Number))
                    .keep(kind("/metrics/timer_server_handler_ns", Kind::Number))
                    .keep(kind(
                        "/metrics/counter_server_query_cache_hit",
                        Kind::Number,
                    )),
            )
    }),
];
