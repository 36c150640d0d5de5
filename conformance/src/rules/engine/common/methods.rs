//! Methods that are not listed

use crate::rules::engine::health::rule::get::health;
use crate::rules::engine::policy;
use crate::rules::engine::root::post::main_decision;
use crate::rules::engine::v1::compile::filters::tables::{ALL, RED, filter};
use crate::rules::engine::v1::query::get::query_path;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("data-head", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(unlisted("HEAD", "/v1/data/{ns}/a"))
    }),
    Rule::new("data-other-method", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(unlisted("OPTIONS", "/v1/data/{ns}/a"))
            .when(unlisted("PURGE", "/v1/data/{ns}/a"))
    }),
    Rule::new("webhook-data", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .each(["GET", "PUT", "PATCH", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v0/data/{ns}/a"))
            })
    }),
    Rule::new("policies", || {
        scenario()
            .given(policy("answer := 42"))
            .each(["POST", "PATCH"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/policies/{ns}"))
            })
    }),
    Rule::new("policies-collection", || {
        scenario()
            // A server that accepts one of these methods may remove policies of other scenarios.
            .changes_global()
            .given(get("/v1/policies"))
            .each(["POST", "PUT", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/policies"))
            })
    }),
    Rule::new("root", || {
        main_decision("main := true")
            .given(post("/").json(json!({"who": "alice"})))
            .each(["PUT", "PATCH", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/"))
            })
    }),
    Rule::new("query", || {
        scenario()
            .given(get(query_path("x = 1")))
            .each(["PUT", "PATCH", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/query"))
            })
    }),
    Rule::new("compile", || {
        scenario()
            .given(post("/v1/compile").json(json!({"query": "input.a == 1"})))
            .each(["PUT", "PATCH", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/compile"))
            })
    }),
    Rule::new("filters", || {
        scenario()
            .given(policy(RED))
            .given(filter("include", ALL))
            .each(["PUT", "PATCH", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/compile/{ns}/include"))
            })
    }),
    Rule::new("config", || {
        scenario()
            .given(get("/v1/config"))
            .each(["PUT", "POST", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/config"))
            })
    }),
    Rule::new("status", || {
        scenario()
            .setup("status")
            .given(get("/v1/status").until([Check::Status(200)]))
            .each(["PUT", "POST", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/v1/status"))
            })
    }),
    Rule::new("health", || {
        scenario()
            .given(get("/health"))
            .each(["PUT", "POST", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/health"))
            })
    }),
    Rule::new("health-rule", || {
        scenario()
            .given(health("{ns} := true"))
            .given(get("/health/{ns}"))
            .each(["PUT", "POST", "DELETE"], |scenario, method| {
                scenario.when(unlisted(method, "/health/{ns}"))
            })
    }),
];

/// A request with a method that its URL does not support.
fn unlisted(method: &'static str, path: &'static str) -> Step {
    request(method, path)
        .off_contract("the method is not listed for this path")
        .expect(status())
}
