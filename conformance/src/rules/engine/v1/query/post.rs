//! POST /v1/query

use super::get::{NO_QUERIES, no_answers, query_path};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-array", || {
        scenario().when(
            post("/v1/query")
                .json(json!({"query": "x = 4711"}))
                .expect(status())
                .expect(kind("/result", Kind::Array)),
        )
    }),
    Rule::new("same-result-as-get", || {
        let query = r#"x = ["a", "b", "c"][i]; y = {"n": i}"#;
        scenario()
            .when(get(query_path(query)).expect(bindings("/result", &["i", "x", "y"])))
            .when(
                post("/v1/query")
                    .json(json!({"query": query}))
                    .expect(bindings("/result", &["i", "x", "y"])),
            )
    }),
    Rule::new("query-field", || {
        scenario().each([r#"x = "one""#, "y = 2; z = 3"], |scenario, query| {
            scenario.when(
                post("/v1/query")
                    .json(json!({"query": query}))
                    .expect(bindings("/result", &["x", "y", "z"])),
            )
        })
    }),
    Rule::new("input-field", || {
        let call = |input: Value| {
            post("/v1/query")
                .json(json!({"query": "x = input.who", "input": input}))
                .expect(bindings("/result", &["x"]))
        };
        scenario()
            .when(call(json!({"who": "alice"})))
            .when(call(json!({"who": {"names": ["bob", 1.5]}})))
            .each(
                [json!(false), json!(0), json!(["bob"])],
                |scenario, input| {
                    scenario.when(
                        post("/v1/query")
                            .json(json!({"query": "x = input", "input": input}))
                            .expect(bindings("/result", &["x"])),
                    )
                },
            )
    }),
    Rule::new("json-body", || {
        scenario().when(
            post("/v1/query")
                .header("Content-Type", "application/json")
                .json(json!({"query": "x = [\"json\"]"}))
                .expect(status())
                .expect(bindings("/result", &["x"])),
        )
    }),
    Rule::new("no-answers", || {
        let query = |text: &str| post("/v1/query").json(json!({"query": text}));
        scenario()
            .when(query("x = 4711").expect(at("/result/0/x")))
            .each(["x = 4711; x < 0", "1 = 2"], |scenario, text| {
                scenario.when(query(text).expect(status()).expect(either(no_answers())))
            })
    }),
    Rule::new("malformed-query-is-400", || {
        scenario().each(NO_QUERIES, |scenario, query| {
            scenario.when(
                post("/v1/query")
                    .json(json!({"query": query}))
                    .expect(status()),
            )
        })
    }),
    Rule::new("malformed-body-is-400", || {
        scenario().when(
            post("/v1/query")
                .text("application/json", r#"{"query": "x = 1""#)
                .off_contract("the body is cut off")
                .expect(status()),
        )
    }),
    Rule::new("q-not-used", || {
        scenario().when(
            post(query_path("x = 1"))
                .json(json!({"query": "x = 2"}))
                .expect(bindings("/result", &["x"])),
        )
    }),
    Rule::new("explain", || {
        scenario().when(
            post("/v1/query?explain=full")
                .json(json!({"query": "x = 4711"}))
                .expect(bindings("/result", &["x"]))
                .expect(trace([any_event().holding(4711)])),
        )
    }),
    Rule::new("metrics", || {
        scenario().when(
            post("/v1/query?metrics=true")
                .json(json!({"query": "x = 4711"}))
                .expect(bindings("/result", &["x"]))
                .expect(kind("/metrics", Kind::Object))
                .expect(kind("/metrics/timer_rego_query_eval_ns", Kind::Amount))
                .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount)),
        )
    }),
];
