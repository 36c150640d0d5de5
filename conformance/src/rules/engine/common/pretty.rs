//! The pretty parameter

use crate::rules::engine::policy;
use crate::rules::engine::root::post::main_decision;
use crate::rules::engine::v1::query::get::asking;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("data-get", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(get("/v1/data/{ns}/a?pretty=true").expect(pretty()))
    }),
    Rule::new("data-post", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                post("/v1/data/{ns}/a?pretty=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(pretty()),
            )
    }),
    Rule::new("webhook-data-post", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                post("/v0/data/{ns}/a?pretty=true")
                    .json(json!({"who": "alice"}))
                    .expect(pretty()),
            )
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
        scenario()
            .given(policy("answer := 42"))
            .when(get("/v1/policies/{ns}?pretty=true").expect(pretty()))
    }),
    Rule::new("root-post", || {
        main_decision(r#"main := {"b": [1, 2]}"#).when(
            post("/?pretty=true")
                .json(json!({"who": "alice"}))
                .expect(pretty()),
        )
    }),
    Rule::new("query-get", || {
        scenario().when(get(format!("{}&pretty=true", asking("x = [1, 2]"))).expect(pretty()))
    }),
    Rule::new("query-post", || {
        scenario().when(
            post("/v1/query?pretty=true")
                .json(json!({"query": "x = [1, 2]"}))
                .expect(pretty()),
        )
    }),
    Rule::new("compile-post", || {
        scenario().when(
            post("/v1/compile?pretty=true")
                .json(json!({"query": "input.a == [1, 2]"}))
                .expect(pretty()),
        )
    }),
    Rule::new("config-get", || {
        scenario().when(get("/v1/config?pretty=true").expect(pretty()))
    }),
    Rule::new("status-get", || {
        scenario().setup("status").when(
            get("/v1/status?pretty=true")
                .until([Check::Status(200)])
                .expect(pretty()),
        )
    }),
];
