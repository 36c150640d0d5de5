//! POST /v1/query

use super::get::asking;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-array", || {
        scenario().when(
            post("/v1/query")
                .json(json!({"query": "x = 4711"}))
                .keep(status())
                .keep(kind("/result", Kind::Array)),
        )
    }),
    Rule::new("same-result-as-get", || {
        let query = r#"x = ["a", "b", "c"][i]; y = {"n": i}"#;
        scenario()
            .when(get(asking(query)).keep(sorted("/result")))
            .when(
                post("/v1/query")
                    .json(json!({"query": query}))
                    .keep(sorted("/result")),
            )
    }),
    Rule::new("query-field", || {
        scenario().each([r#"x = "one""#, "y = 2; z = 3"], |scenario, query| {
            scenario.when(
                post("/v1/query")
                    .json(json!({"query": query}))
                    .keep(at("/result")),
            )
        })
    }),
    Rule::new("input-field", || {
        let call = |input: Value| {
            post("/v1/query")
                .json(json!({"query": "x = input.who", "input": input}))
                .keep(at("/result"))
        };
        scenario()
            .when(call(json!({"who": "alice"})))
            .when(call(json!({"who": {"names": ["bob", 1.0]}})))
    }),
    Rule::new("json-body", || {
        scenario().when(
            post("/v1/query")
                .header("Content-Type", "application/json")
                .json(json!({"query": "x = [\"json\"]"}))
                .keep(status())
                .keep(at("/result")),
        )
    }),
    Rule::new("malformed-query-is-400", || {
        scenario().each(["x =", "}{", "x = \"open"], |scenario, query| {
            scenario.when(
                post("/v1/query")
                    .json(json!({"query": query}))
                    .keep(status()),
            )
        })
    }),
    Rule::new("malformed-body-is-400", || {
        scenario().when(
            post("/v1/query")
                .text("application/json", r#"{"query": "x = 1""#)
                .off_contract("the body is cut off")
                .keep(status()),
        )
    }),
    Rule::new("q-not-used", || {
        scenario().when(
            post(asking("x = 1"))
                .json(json!({"query": "x = 2"}))
                .keep(at("/result")),
        )
    }),
    Rule::new("explain", || {
        scenario().when(
            post("/v1/query?explain=full")
                .json(json!({"query": "x = 4711"}))
                .keep(at("/result"))
                .keep(trace([any_event().holding(4711)])),
        )
    }),
    Rule::new("metrics", || {
        scenario().when(
            post("/v1/query?metrics=true")
                .json(json!({"query": "x = 4711"}))
                .keep(at("/result"))
                .keep(kind("/metrics", Kind::Object))
                .keep(kind("/metrics/timer_rego_query_eval_ns", Kind::Amount)),
        )
    }),
];
