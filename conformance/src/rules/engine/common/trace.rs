//! Trace event

use super::events::{COMPARES, STEPS, full, query_requests, traced};
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("op-is-documented", || {
        every_event(&[trace_texts(
            any_event(),
            "/op",
            &["Enter", "Exit", "Eval", "Fail", "Redo"],
        )])
    }),
    Rule::new("query-id-is-integer", || {
        every_event(&[
            trace_types(any_event(), "/query_id", &[Kind::Integer]),
            trace([
                event("Enter").of("rule").holding("alpha").query("rule"),
                event("Eval").of("expr").holding("alpha").query("rule"),
                event("Exit").of("rule").holding("alpha").query("rule"),
            ]),
        ])
    }),
    Rule::new("parent-id-is-integer", || {
        every_event(&[trace_types(any_event(), "/parent_id", &[Kind::Integer])])
    }),
    Rule::new("parent-id-is-query-id", || {
        let decisions = [
            get("/v1/data/{ns}/s?explain=full"),
            full("s", json!({"alpha": 18})),
        ];
        let queries = query_requests("data.{ns}.s = x", "explain=full");
        let scenario = scenario()
            .given(put("/v1/data/{ns}/facts").json(json!({"beta": [1, 2]})))
            .given(policy(NESTED));
        let scenario = scenario.each(decisions, |scenario, step| {
            scenario.when(step.expect(trace(nested(|outermost| outermost))))
        });
        scenario.each(queries, |scenario, step| {
            let body = event("Enter").of("body").holding("s").query("query");
            let called = nested(|outermost| outermost.parent("query"));
            let events: Vec<TraceEvent> = [body].into_iter().chain(called).collect();
            scenario.when(step.expect(trace(events)))
        })
    }),
    Rule::new("type-is-documented", || {
        every_event(&[
            trace_texts(any_event(), "/type", &["expr", "rule", "body"]),
            trace_texts(event("Eval"), "/type", &["expr"]),
            trace([
                event("Enter").of("body"),
                event("Enter").of("rule").holding("alpha"),
            ]),
        ])
    }),
    // In the documented form of a parsed policy, a body is an array of expressions.
    Rule::new("node-is-ast", || {
        every_event(&[
            trace_types(any_event().of("expr"), "/node", &[Kind::Object]),
            trace_types(
                any_event().of("expr"),
                "/node/terms",
                &[Kind::Array, Kind::Object],
            ),
            trace_types(any_event().of("rule"), "/node", &[Kind::Object]),
            trace_types(any_event().of("rule"), "/node/head/name", &[Kind::String]),
            trace_types(any_event().of("rule"), "/node/body", &[Kind::Array]),
            trace_types(
                any_event().of("body"),
                "/node",
                &[Kind::Array, Kind::Object],
            ),
            trace([
                event("Enter").of("rule").holding("alpha"),
                event("Eval").of("expr").holding("alpha"),
                event("Eval").of("expr").holding(11),
            ]),
        ])
    }),
    Rule::new("locals-is-array", || {
        scenario().given(policy(COMPARES)).when(
            full("p", json!({"alpha": 18}))
                .expect(trace_types(any_event(), "/locals", &[Kind::Array]))
                .expect(trace([
                    event("Eval").of("expr").holding("alpha").not_binding(18),
                    event("Eval").of("expr").holding(17).binding(18),
                    event("Exit").of("rule").holding("alpha").binding(18),
                ])),
        )
    }),
    Rule::new("local-key-is-term", || local_is_term("key")),
    Rule::new("local-value-is-term", || local_is_term("value")),
    Rule::new("further-fields", || {
        scenario().given(policy("p if trace(\"seen\")")).when(
            traced("p", "explain=notes", json!({}))
                .expect(trace([any_event()]))
                .expect(at("/explanation")),
        )
    }),
];

/// A chain of rules: each calls the next, and the last one has a comprehension.
const NESTED: &str = "s if r

r if p

p if q

q if count([x | x := data.{ns}.facts.beta[_]]) > 1";

/// The events of entering the rules of [`NESTED`], each called by the one before. `outermost` may
/// add conditions to the first event.
fn nested(outermost: impl Fn(TraceEvent) -> TraceEvent) -> [TraceEvent; 5] {
    let rule = |called: &str| event("Enter").of("rule").holding(called);
    [
        outermost(rule("r").query("first")),
        rule("p").query("second").parent("first"),
        rule("q").query("third").parent("second"),
        rule("beta").query("fourth").parent("third"),
        event("Enter")
            .of("body")
            .holding("beta")
            .query("fifth")
            .parent("fourth"),
    ]
}

/// Expects these facts of a trace that has events of all documented operations.
fn every_event(facts: &[Expectation]) -> Scenario {
    let call = full("p", json!({"alpha": [11, 12], "beta": 3}));
    let call = facts.iter().cloned().fold(call, Step::expect);
    scenario().given(policy(STEPS)).when(call)
}

/// Expects a term as this part of the local bindings while the second expression is evaluated.
fn local_is_term(part: &'static str) -> Scenario {
    let (node_type, value) = match part {
        "key" => ("/locals/*/key/type", "/locals/*/key/value"),
        _ => ("/locals/*/value/type", "/locals/*/value/value"),
    };
    let second = || event("Eval").of("expr").holding(17).binding(18);
    let values = [Kind::String, Kind::Number, Kind::Boolean, Kind::Array];
    scenario().given(policy(COMPARES)).when(
        full("p", json!({"alpha": 18}))
            .expect(trace_types(second(), node_type, &[Kind::String]))
            .expect(trace_types(second(), value, &values)),
    )
}
