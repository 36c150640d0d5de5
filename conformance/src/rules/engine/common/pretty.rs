//! The pretty parameter

use crate::rules::engine::policy;
use crate::rules::engine::root::post::main_decision;
use crate::rules::engine::v1::query::get::query_path;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("data-get", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(get("/v1/data/{ns}/a?pretty=true").expect(pretty()))
    }),
    Rule::new("data-post", || {
        let document = put("/v1/data/{ns}/a").json(json!({"b": [1, 2]}));
        only_when_true(scenario().given(document), "/v1/data/{ns}/a", |path| {
            post(path).json(json!({"input": {"who": "alice"}}))
        })
    }),
    Rule::new("webhook-data-post", || {
        let document = put("/v1/data/{ns}/a").json(json!({"b": [1, 2]}));
        only_when_true(scenario().given(document), "/v0/data/{ns}/a", |path| {
            post(path).json(json!({"who": "alice"}))
        })
    }),
    Rule::new("data-get-false", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .given(get("/v1/data/{ns}/a").capture_text("plain"))
            .when(
                get("/v1/data/{ns}/a?pretty=false")
                    .expect(at("/result"))
                    .expect(lines_of("plain")),
            )
    }),
    Rule::new("policy-get", || {
        let policy = policy("answer := 42");
        only_when_true(scenario().given(policy), "/v1/policies/{ns}", get)
    }),
    Rule::new("root-post", || {
        only_when_true(main_decision(r#"main := {"b": [1, 2]}"#), "/", |path| {
            post(path).json(json!({"who": "alice"}))
        })
    }),
    Rule::new("query-get", || {
        only_when_true(scenario(), &query_path("x = [1, 2]"), get)
    }),
    Rule::new("query-post", || {
        only_when_true(scenario(), "/v1/query", |path| {
            post(path).json(json!({"query": "x = [1, 2]"}))
        })
    }),
    Rule::new("compile-post", || {
        only_when_true(scenario(), "/v1/compile", |path| {
            post(path).json(json!({"query": "input.a == [1, 2]"}))
        })
    }),
    Rule::new("config-get", || {
        only_when_true(scenario(), "/v1/config", get)
    }),
    Rule::new("status-get", || {
        scenario().setup("status").when(
            get("/v1/status?pretty=true")
                .until([Check::Status(200)])
                .expect(pretty()),
        )
    }),
];

/// Expects a pretty-printed response with `pretty=true`, and as many lines with `pretty=false` as
/// without the parameter.
fn only_when_true(start: Scenario, path: &str, request: impl Fn(String) -> Step) -> Scenario {
    let with = |value: &str| {
        let separator = if path.contains('?') { '&' } else { '?' };
        request(format!("{path}{separator}pretty={value}"))
    };
    start
        .when(with("true").expect(pretty()))
        .given(request(path.to_owned()).capture_text("plain"))
        .when(with("false").expect(success()).expect(lines_of("plain")))
}
