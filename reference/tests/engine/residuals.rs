//! Residuals of repeated partial evaluations.

use http::header::HeaderMap;
use reference::engine::Engine;
use serde_json::{Value, json};

use crate::exchange::request;

fn put(engine: &Engine, limit: u8) {
    let policy = format!("package app\n\nallow if input.level > {limit}\n");
    let path = "/v1/policies/app";
    let reply = engine.respond(request("PUT", path, HeaderMap::new(), policy.into_bytes()));
    assert_eq!(reply.status.as_u16(), 200);
}

/// Returns the response to a query. Asserts that a repetition has the same response.
#[track_caller]
fn residual(engine: &Engine, parameters: &str, body: &Value) -> Value {
    let target = format!("/v1/compile{parameters}");
    let compile = || {
        let body = body.to_string().into_bytes();
        let reply = engine.respond(request("POST", &target, HeaderMap::new(), body));
        let answer: Value = serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
        answer["result"].clone()
    };
    let first = compile();
    assert_eq!(compile(), first);
    first
}

#[test]
fn queries_that_are_kept_follow_policies_options_and_parameters() {
    let engine = Engine::default();
    let query = json!({"query": "data.app.allow"});
    let open = |limit: u8| {
        json!({"queries": [[{"index": 0, "terms": [
            {"type": "ref", "value": [{"type": "var", "value": "gt"}]},
            {"type": "ref", "value": [
                {"type": "var", "value": "input"},
                {"type": "string", "value": "level"},
            ]},
            {"type": "number", "value": limit},
        ]}]]})
    };
    for limit in [3, 4] {
        put(&engine, limit);
        for parameters in ["", "?pretty", "?metrics", "?explain=full"] {
            let found = residual(&engine, parameters, &query);
            assert_eq!(found, open(limit), "{parameters}");
        }
        let known = json!({
            "query": "data.app.allow", "unknowns": ["data.other"], "input": {"level": 4},
        });
        let always_true = json!({"queries": [[]]});
        let expected = if limit == 3 { always_true } else { json!({}) };
        assert_eq!(residual(&engine, "", &known), expected);
    }
}
