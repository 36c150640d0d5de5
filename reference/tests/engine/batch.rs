//! Many decisions in one request.

use std::time::Duration;

use http::HeaderMap;
use reference::engine::{Engine, EvaluationOptions, Options};
use rstest::rstest;
use serde_json::{Value, json};

use crate::exchange::{engine, request, run_script, run_script_on};

const POLICY: &str = r#"
package app

default allow := false

allow if input.user == "ann"

who := input.user

one := 1 if input.user

one := 2 if input.user

members[name] := place if some place, name in input.names

n := to_number(input.n)

endless := count([x |
    some x in numbers.range(1, 100000)
    some y in numbers.range(1, 100000)
    x + y < 0
])
"#;

/// Creates an engine with the policy of these tests.
fn prepared(options: Options) -> Engine {
    let engine = engine(options);
    let policy = POLICY.as_bytes().to_vec();
    let reply = engine.respond(request("PUT", "/v1/policies/app", HeaderMap::new(), policy));
    assert_eq!(reply.status.as_u16(), 200);
    engine
}

fn decide(engine: &Engine, target: &str, body: &Value) -> (u16, Value) {
    let target = format!("/v1/batch/data{target}");
    let body = body.to_string().into_bytes();
    let reply = engine.respond(request("POST", &target, HeaderMap::new(), body));
    let answer = serde_json::from_slice(&reply.body.bytes());
    (reply.status.as_u16(), answer.unwrap_or_default())
}

#[test]
fn each_input_has_its_response() {
    run_script_on(
        &prepared(Options::default()),
        r#"
        POST /v1/batch/data/app/allow {"inputs": {"a": {"user": "ann"}, "b": {"user": "bob"}}} => 200 {"responses":{"a":{"result":true},"b":{"result":false}}}
        POST /v1/batch/data/app/who {"inputs": {"a": {"user": "ann"}, "b": {}, "c": null, "d": 3}, "common_input": {"user": "x"}} => 200 {"responses":{"a":{"result":"ann"},"b":{"result":"x"},"c":{},"d":{}}}
        POST /v1/batch/data/app/who {"inputs": {"a": {"user": {"b": [2]}}, "b": {"user": 1}}, "common_input": {"user": {"a": 1, "b": [1]}}} => 200 {"responses":{"a":{"result":{"a":1,"b":[2]}},"b":{"result":1}}}
        POST /v1/batch/data/app/who {"inputs": {"a": {}}, "common_input": [1]} => 200 {"responses":{"a":{}}}
        POST /v1/batch/data/none {"inputs": {"a": {}}} => 200 {"responses":{"a":{}}}
        POST /v1/batch/data/app/who [content-type: application/yaml] inputs: {a: {user: ann}} => 200 {"responses":{"a":{"result":"ann"}}}
        "#,
    );
}

const WARNING: &str = r#"200 {"warning":{"code":"api_usage_warning","message":"'inputs' key missing from the request"}}"#;

#[rstest]
#[case::empty("", WARNING)]
#[case::null("null", WARNING)]
#[case::no_inputs("{}", WARNING)]
#[case::inputs_are_null(r#"{"inputs": null}"#, WARNING)]
#[case::no_input(r#"{"inputs": {}}"#, "200 {}")]
#[case::list("[]", "400 invalid_parameter")]
#[case::number("3", "400 invalid_parameter")]
#[case::list_of_inputs(r#"{"inputs": [1]}"#, "400 invalid_parameter")]
#[case::number_of_inputs(r#"{"inputs": 1}"#, "400 invalid_parameter")]
#[case::broken("{bad", "400 invalid_parameter")]
fn what_is_no_batch_is_refused_or_warned_of(#[case] body: &str, #[case] answer: &str) {
    run_script(&format!("POST /v1/batch/data/a {body} => {answer}"));
}

#[test]
fn batches_are_only_posted() {
    run_script("GET /v1/batch/data/a => 405 Method Not Allowed");
}

#[test]
fn failures_concern_their_input_alone() {
    let engine = prepared(Options::default());
    let code = |response: &Value| response["code"].clone();
    let (status, answer) = decide(
        &engine,
        "/app/one",
        &json!({"inputs": {"a": {"user": 1}, "b": {}}}),
    );
    assert_eq!(status, 207);
    let responses = &answer["responses"];
    assert_eq!(code(&responses["a"]), "internal_error");
    assert_eq!(responses["a"]["http_status_code"], "500");
    assert_eq!(responses["b"], json!({"http_status_code": "200"}));

    let (status, answer) = decide(&engine, "/app/one", &json!({"inputs": {"a": {"user": 1}}}));
    assert_eq!(
        (status, code(&answer["responses"]["a"])),
        (500, json!("internal_error"))
    );
    assert_eq!(answer["responses"]["a"]["http_status_code"], Value::Null);

    let wrong = json!({"inputs": {"a": {"n": "x"}}});
    assert_eq!(
        decide(&engine, "/app/n", &wrong),
        (200, json!({"responses": {"a": {}}}))
    );
    let (status, _) = decide(&engine, "/app/n?strict-builtin-errors", &wrong);
    assert_eq!(status, 500);
}

#[test]
fn errors_of_evaluations_are_told_in_one_message() {
    let engine = prepared(Options::default());
    for (path, input, message) in [
        (
            "/app/one",
            json!({"user": 1}),
            "eval_conflict_error: rule data.app.one produced conflicting values:\n  \
             1 at app:10\n  2 at app:12",
        ),
        (
            "/app/members",
            json!({"names": ["a", "a"]}),
            "object insert conflict",
        ),
    ] {
        let (_, answer) = decide(&engine, path, &json!({"inputs": {"a": input}}));
        let expected = json!({"code": "internal_error", "message": message});
        assert_eq!(answer["responses"]["a"], expected);
    }
}

#[test]
fn without_batches_their_paths_lead_nowhere() {
    let options = Options {
        disable_batch_api: true,
        ..Options::default()
    };
    run_script_on(
        &prepared(options),
        r#"
        POST /v1/batch/data/app/allow {"inputs": {}} => 404 404 page not found
        POST /v1/batch/data/ {"inputs": {}} => 404 404 page not found
        GET /v1/batch/data/app/allow => 404 404 page not found
        POST /v1/data/app/allow {"input": {"user": "ann"}} => 200 {"result":true}
        "#,
    );
}

#[test]
fn metrics_are_of_the_batch_and_of_each_decision() {
    let engine = prepared(Options::default());
    let inputs = json!({"inputs": {"a": {"user": "ann"}}});
    let (_, answer) = decide(&engine, "/app/allow?metrics&provenance", &inputs);
    let response = &answer["responses"]["a"];
    for metrics in [&answer["metrics"], &response["metrics"]] {
        assert!(metrics["timer_server_handler_ns"].is_u64(), "{answer}");
    }
    assert!(response["provenance"]["version"].is_string(), "{answer}");
}

#[test]
fn logged_batches_and_their_decisions_have_ids() {
    let engine = prepared(Options {
        set: vec!["decision_logs.console=true".to_owned()],
        ..Options::default()
    });
    let inputs = json!({"inputs": {"a": {"user": 1}, "b": {}}});
    let (_, answer) = decide(&engine, "/app/one", &inputs);
    let responses = &answer["responses"];
    let ids = [
        &answer["batch_decision_id"],
        &responses["a"]["decision_id"],
        &responses["b"]["decision_id"],
    ];
    let ids: std::collections::BTreeSet<&str> = ids.iter().filter_map(|id| id.as_str()).collect();
    assert_eq!(ids.len(), 3, "{answer}");
}

#[test]
fn a_batch_ends_in_the_time_of_one_evaluation() {
    let engine = prepared(Options {
        evaluation: EvaluationOptions {
            evaluation_timeout: Duration::from_secs(1),
            ..EvaluationOptions::default()
        },
        ..Options::default()
    });
    let inputs: serde_json::Map<_, _> = (0..200).map(|n| (n.to_string(), json!({}))).collect();
    let (status, answer) = decide(&engine, "/app/endless", &json!({"inputs": inputs}));
    let responses = answer["responses"].as_object().into_iter().flatten();
    let late = responses.filter(|(_, response)| {
        let message = response["message"].as_str();
        message.is_some_and(|message| message.contains("before this input was evaluated"))
    });
    let late = late.count();
    assert!(
        status == 500 && (190..200).contains(&late),
        "{status}, {late} late"
    );
}
