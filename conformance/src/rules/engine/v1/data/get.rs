//! GET /v1/data/{path}

use crate::rules::engine::policy;
use crate::scenario::resource_names::encode;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("defined-document-answers-ok", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .given(get("/v1/data/{ns}/a").shows([Check::Equals("/result".to_owned(), json!(1))]))
            .when(get("/v1/data/{ns}/a").expect(status()))
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
                    scenario.when(get(format!("/v1/data/{{ns}}/{name}")).expect(at("/result")))
                },
            )
    }),
    Rule::new("satisfied-boolean-rule-is-true", || {
        scenario()
            .given(policy(r#"allow if input.who == "alice""#))
            .when(with_input("allow", &json!({"who": "alice"}), "").expect(at("/result")))
            .when(with_input("allow", &json!({"who": "bob"}), "").expect(lacks("/result")))
    }),
    Rule::new("undefined-answers-ok", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .given(get("/v1/data/{ns}/a").shows([Check::Equals("/result".to_owned(), json!(1))]))
            .when(get("/v1/data/{ns}/b").expect(status()))
            .given(put("/v1/data/{ns}").json(json!({"a": 1, "array": [1, 2], "text": "text"})))
            .each(NOWHERE, |scenario, path| {
                scenario.when(get(format!("/v1/data/{{ns}}/{path}")).expect(status()))
            })
    }),
    Rule::new("undefined-omits-result", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .when(
                get("/v1/data/{ns}/b")
                    .expect(lacks("/result"))
                    .expect(none_but("", &["decision_id"])),
            )
            .given(put("/v1/data/{ns}").json(json!({"a": 1, "array": [1, 2], "text": "text"})))
            .each(NOWHERE, |scenario, path| {
                scenario.when(get(format!("/v1/data/{{ns}}/{path}")).expect(lacks("/result")))
            })
    }),
    Rule::new("gzip-response-on-request", || {
        scenario()
            .given(
                put("/v1/data/{ns}").json(json!({"name": "long", "filler": "text ".repeat(4000)})),
            )
            .when(
                get("/v1/data/{ns}")
                    .header("Accept-Encoding", "gzip")
                    .expect(header("Content-Encoding"))
                    .expect(at("/result/name")),
            )
    }),
    Rule::new("input-is-input-document", || {
        scenario()
            .given(policy("seen := input"))
            .when(
                with_input("seen", &json!({"who": "alice", "roles": ["a", "b+c"]}), "")
                    .expect(at("/result")),
            )
            .when(with_input("seen", &json!({"who": {"name": "bob"}}), "").expect(at("/result")))
            .when(
                with_input("seen", &json!({"a&b=c": "a&b=c+d%20é#/?;"}), "").expect(at("/result")),
            )
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
            |scenario, input| scenario.when(with_input("seen", &input, "").expect(at("/result"))),
        )
    }),
    Rule::new("malformed-input-answers-bad-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?input=%7B%22who%22%3A")
                    .off_contract("the input is cut off")
                    .expect(status()),
            )
    }),
    Rule::new("pretty-keeps-envelope", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!({"b": [1, 2]})))
            .when(get("/v1/data/{ns}/a?pretty=true").expect(at("/result")))
    }),
    Rule::new("provenance-on-request", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(1)))
            .when(
                get("/v1/data/{ns}/a?provenance=true")
                    .expect(kind("/provenance", Kind::Object))
                    .expect(kind("/provenance/version", Kind::Text))
                    .expect(at("/result")),
            )
            .when(
                get(format!("/v1/data/{{ns}}/a?{TOGETHER}"))
                    .expect(kind("/provenance/version", Kind::Text))
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
                get("/v1/data/{ns}/a?metrics=true")
                    .expect(kind("/metrics", Kind::Object))
                    .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                    .expect(at("/result")),
            )
            .when(
                get(format!("/v1/data/{{ns}}/a?{TOGETHER}"))
                    .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                    .expect(at("/result")),
            )
    }),
    Rule::new("instrument-adds-superset", || {
        // A server may reuse a compiled query, so each request is for a separate rule.
        let rules = [("a", "instrument=true"), ("b", TOGETHER)];
        scenario()
            .given(policy("a := input.who\n\nb := input.who"))
            .each(rules, |scenario, (rule, parameters)| {
                let call = with_input(rule, &json!({"who": "alice"}), parameters);
                scenario.when(
                    call.expect(each(
                        "/metrics/timer_query_compile_stage_*_ns",
                        Kind::Amount,
                    ))
                    .expect(kind("/metrics/timer_rego_query_eval_ns", Kind::Amount))
                    .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount))
                    .expect(kind(
                        "/metrics/counter_server_query_cache_hit",
                        Kind::Amount,
                    ))
                    .expect(at("/result")),
                )
            })
    }),
    Rule::new("strict-builtin-errors-are-fatal", || {
        let call = |text: &str, strict: &str| with_input("number", &json!({"text": text}), strict);
        scenario()
            .given(policy("number := to_number(input.text)"))
            .given(call("41", STRICT))
            .when(fatal(call("forty-one", STRICT)))
            .when(fatal(call("forty-one", TOGETHER)))
            .each(["", NOT_STRICT], |scenario, strict| {
                scenario.when(undefined(call("forty-one", strict)))
            })
    }),
];

/// Paths below a number, an array and a string.
const NOWHERE: [&str; 7] = [
    "a/b",
    "array/2",
    "array/-1",
    "array/-",
    "array/length",
    "text/0",
    "text/length",
];

/// Reads a document with an input document and with these additional parameters.
fn with_input(document: &str, input: &Value, parameters: &str) -> Step {
    let input = encode(&input.to_string());
    let path = format!("/v1/data/{{ns}}/{document}?input={input}");
    match parameters {
        "" => get(path),
        _ => get(format!("{path}&{parameters}")),
    }
}

/// Parameters of one request, none of which may disable another.
pub(super) const TOGETHER: &str =
    "explain=full&instrument=true&metrics=true&provenance=true&strict-builtin-errors=true";

/// Parameters that define whether an error of a built-in function is fatal.
pub(super) const STRICT: &str = "strict-builtin-errors=true";
pub(super) const NOT_STRICT: &str = "strict-builtin-errors=false";

/// Expects that the document is undefined because a built-in function failed.
pub(super) fn undefined(call: Step) -> Step {
    call.expect(status()).expect(lacks("/result"))
}

/// Expects that the call fails because of the argument of a built-in function.
pub(super) fn fatal(call: Step) -> Step {
    call.expect(status_among(&[400, 500]))
        .expect(kind("/code", Kind::String))
        .expect(kind("/message", Kind::String))
}

/// Expects a result and a trace of a rule with a note and a failing expression, so that every kind
/// of trace has events. The result depends on the input.
pub(super) fn explained(call: fn(u8, &str) -> Step, explain: &str) -> Scenario {
    let rules = "p := x if {\n\ttrace(\"seen\")\n\tx := [1, 2][_]\n\tx == input.n\n}";
    scenario()
        .given(policy(rules))
        .when(traced(call(2, explain)))
}

/// [`explained`] with every event, also with other parameters and for an undefined document.
pub(super) fn fully_explained(call: fn(u8, &str) -> Step) -> Scenario {
    explained(call, "explain=full")
        .when(traced(call(2, TOGETHER)))
        .when(
            call(3, "explain=full")
                .expect(lacks("/result"))
                .expect(trace([any_event()])),
        )
}

/// Expects that a call returns its result and a trace.
fn traced(call: Step) -> Step {
    call.expect(at("/result")).expect(trace([any_event()]))
}

/// Queries the rule of [`explained`].
fn with_number(n: u8, parameters: &str) -> Step {
    with_input("p", &json!({"n": n}), parameters)
}
