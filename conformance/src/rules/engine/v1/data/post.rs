//! POST /v1/data/{path}

use super::get::{NOT_STRICT, STRICT, TOGETHER, explained, fatal, fully_explained, undefined};
use super::put::{EMPTY, empty_values};
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("defined-document-answers-ok", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .given(get("/v1/data/{ns}/a").shows([Check::Equals("/result".to_owned(), json!(1))]))
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(status()),
            )
    }),
    Rule::new("result-holds-document", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, "two", null]})))
            .when(query_document("a").expect(at("/result")))
            .given(put("/v1/data/{ns}").json(empty_values()))
            .each(EMPTY, |scenario, name| {
                scenario.when(query_document(name).expect(at("/result")))
            })
    }),
    Rule::new("satisfied-boolean-rule-is-true", || {
        scenario()
            .given(policy(r#"allow if input.who == "alice""#))
            .when(with_input("allow", json!({"who": "alice"})).expect(at("/result")))
            .when(with_input("allow", json!({"who": "bob"})).expect(lacks("/result")))
    }),
    Rule::new("undefined-answers-ok", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .given(get("/v1/data/{ns}/a").shows([Check::Equals("/result".to_owned(), json!(1))]))
            .when(
                post("/v1/data/{ns}/b")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(status()),
            )
    }),
    Rule::new("undefined-omits-result", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(at("/result")),
            )
            .when(
                post("/v1/data/{ns}/b")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(lacks("/result")),
            )
    }),
    Rule::new("yaml-body-accepted", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/yaml", "input:\n  who: alice\n")
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
    Rule::new("yaml-input-is-input-document", || {
        scenario().given(policy("seen := input")).each(
            [
                "input:\n  who: alice\n  roles:\n    - reader\n    - n: 41\n",
                "input:\n- bob\n- false\n",
            ],
            |scenario, yaml| {
                scenario.when(
                    post("/v1/data/{ns}/seen")
                        .text("application/yaml", yaml)
                        .expect(at("/result")),
                )
            },
        )
    }),
    Rule::new("gzip-body-accepted", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .gzip()
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
    Rule::new("input-field-is-input-document", || {
        scenario()
            .given(policy("seen := input"))
            .when(with_input("seen", json!({"who": "alice", "roles": ["a"]})).expect(at("/result")))
            .when(with_input("seen", json!({"input": {"who": "bob"}})).expect(at("/result")))
    }),
    Rule::new("input-takes-any-json", || {
        scenario().given(policy("seen := input")).each(
            [
                json!("alice"),
                json!(41),
                json!(1.5),
                json!(["alice", {"n": 41}]),
                json!(false),
                json!(0),
                json!(""),
                json!([]),
                json!({}),
            ],
            |scenario, input| scenario.when(with_input("seen", input).expect(at("/result"))),
        )
    }),
    Rule::new("input-parameter-not-used", || {
        let call = |body: Value| {
            post("/v1/data/{ns}/seen?input=1")
                .json(body)
                .off_contract("the parameter is listed only for GET")
        };
        scenario()
            .given(policy("seen := input"))
            .when(call(json!({"input": 2})).expect(at("/result")))
            .when(call(json!({"input": {"who": "alice"}})).expect(at("/result")))
            .when(call(json!({})).expect(lacks("/result")))
    }),
    Rule::new("malformed-json-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/json", r#"{"input": "#)
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("malformed-yaml-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a")
                    .text("application/yaml", "input: [1, 2")
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("pretty-keeps-envelope", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(
                post("/v1/data/{ns}/a?pretty=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(at("/result")),
            )
    }),
    Rule::new("provenance-on-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a?provenance=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(kind("/provenance", Kind::Object))
                    .expect(at("/result")),
            )
            .when(
                query_document(&format!("a?{TOGETHER}"))
                    .expect(kind("/provenance", Kind::Object))
                    .expect(at("/result")),
            )
    }),
    Rule::new("explain-notes", || explained(with_number, "explain=notes")),
    Rule::new("explain-fails", || explained(with_number, "explain=fails")),
    Rule::new("explain-full", || fully_explained(with_number)),
    Rule::new("explain-debug", || explained(with_number, "explain=debug")),
    Rule::new("metrics-on-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                post("/v1/data/{ns}/a?metrics=true")
                    .json(json!({"input": {"who": "alice"}}))
                    .expect(kind("/metrics", Kind::Object))
                    .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                    .expect(at("/result")),
            )
            .when(
                query_document(&format!("a?{TOGETHER}"))
                    .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                    .expect(at("/result")),
            )
    }),
    Rule::new("instrument-adds-superset", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .each(["instrument=true", TOGETHER], |scenario, parameters| {
                scenario.when(
                    query_document(&format!("a?{parameters}"))
                        .expect(kind("/metrics/timer_rego_input_parse_ns", Kind::Amount))
                        .expect(kind("/metrics/timer_rego_query_eval_ns", Kind::Amount))
                        .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                        .expect(kind(
                            "/metrics/counter_server_query_cache_hit",
                            Kind::Amount,
                        )),
                )
            })
    }),
    Rule::new("strict-builtin-errors-are-fatal", || {
        let call = |text: &str, strict: &str| {
            let path = format!("/v1/data/{{ns}}/number?{strict}");
            post(path.trim_end_matches('?')).json(json!({"input": {"text": text}}))
        };
        scenario()
            .given(policy("number := to_number(input.text)"))
            .given(call("41", STRICT))
            .when(fatal(call("forty-one", STRICT)))
            .when(fatal(call("forty-one", TOGETHER)))
            .each(["", NOT_STRICT], |scenario, strict| {
                scenario.when(undefined(call("forty-one", strict)))
            })
    }),
    Rule::new("body-without-input", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(post("/v1/data/{ns}/a").expect(status()))
            .each(
                [json!({}), json!({"input": null}), json!([1]), json!("text")],
                |scenario, value| {
                    scenario.when(
                        post("/v1/data/{ns}/a")
                            .json(value)
                            .off_contract("the body has no input")
                            .expect(status()),
                    )
                },
            )
    }),
    Rule::new("gzip-response-on-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!("text ".repeat(4000))))
            .when(
                post("/v1/data/{ns}/a")
                    .json(json!({"input": {"who": "alice"}}))
                    .header("Accept-Encoding", "gzip")
                    .expect(status())
                    .expect(header("Content-Encoding")),
            )
    }),
];

/// Reads a document with an input document.
fn with_input(document: &str, input: Value) -> Step {
    post(format!("/v1/data/{{ns}}/{document}")).json(json!({"input": input}))
}

/// Queries a document with an input that it does not depend on.
fn query_document(document: &str) -> Step {
    with_input(document, json!({"who": "alice"}))
}

/// Queries the rule of [`explained`].
fn with_number(n: u8, parameters: &str) -> Step {
    with_input(&format!("p?{parameters}"), json!({"n": n}))
}
