//! Events
//!
//! Each expression of the policies reads another member of the input or compares another number,
//! which distinguishes its events from those of the others.

use crate::rules::engine::policy;
use crate::rules::engine::v1::query::get::query_path;
use crate::scenario::resource_names::encode;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("off-has-no-trace", || {
        let input = json!({"alpha": [12], "beta": 3});
        let data = [
            traced("p", "explain=off", input.clone()),
            traced_get("p", "explain=off", &input),
        ];
        untraced(data, query_requests("x = 4711", "explain=off"))
    }),
    Rule::new("absent-has-no-trace", || {
        let input = json!({"alpha": [12], "beta": 3});
        let data = [
            post("/v1/data/{ns}/p").json(json!({"input": input})),
            get(format!(
                "/v1/data/{{ns}}/p?input={}",
                encode(&input.to_string())
            )),
        ];
        let query = [
            get(query_path("x = 4711")),
            post("/v1/query").json(json!({"query": "x = 4711"})),
        ];
        untraced(data, query)
    }),
    Rule::new("full", || every_step("explain=full")),
    Rule::new("debug", || every_step("explain=debug")),
    Rule::new("notes", || {
        let rules = "p if {\n\tq\n\tr\n}\n\nq if trace(\"seen\")\n\nr if input.beta > 2";
        scenario()
            .given(policy(rules))
            .when(
                traced("p", "explain=notes", json!({"beta": 3}))
                    .expect(trace([any_event()]))
                    .expect(mentions("seen"))
                    .expect(trace_without(any_event().holding("beta"))),
            )
            .when(
                query_with("notes", json!({"beta": 3}))
                    .expect(trace([any_event()]))
                    .expect(mentions("seen"))
                    .expect(trace_without(any_event().holding("beta"))),
            )
            .when(
                traced("r", "explain=notes", json!({"beta": 3}))
                    .expect(at("/result"))
                    .expect(trace_without(any_event())),
            )
    }),
    Rule::new("fails", || {
        let rules = "p if {\n\tq\n\tnot r\n}\n\nq if input.beta > 2\n\nr if input.gamma > 5";
        scenario()
            .given(policy(rules))
            .when(
                traced("p", "explain=fails", json!({"beta": 3, "gamma": 4}))
                    .expect(trace([event("Fail").of("expr").holding(5)]))
                    .expect(trace_without(any_event().holding("beta"))),
            )
            .when(
                query_with("fails", json!({"beta": 3, "gamma": 4}))
                    .expect(trace([event("Fail").of("expr").holding(5)]))
                    .expect(trace_without(any_event().holding("beta"))),
            )
            .when(
                traced("q", "explain=fails", json!({"beta": 3}))
                    .expect(at("/result"))
                    .expect(trace_without(any_event())),
            )
    }),
    Rule::new("trace-is-array", || {
        scenario().given(policy(COMPARES)).when(
            full("p", json!({"alpha": 18}))
                .expect(at("/result"))
                .expect(trace([event("Enter"), event("Eval")])),
        )
    }),
    Rule::new("machine-format-by-default", || {
        scenario().given(policy(COMPARES)).when(
            full("p", json!({"alpha": 18})).expect(trace_types(any_event(), "", &[Kind::Object])),
        )
    }),
    Rule::new("pretty-format", || {
        let (readable, input) = ("explain=full&pretty=true", json!({"alpha": 18}));
        let data = [
            traced_get("weighed", readable, &input),
            traced("weighed", readable, input),
        ];
        let query = query_requests(r#"x = "weighed""#, readable);
        scenario()
            .given(policy("weighed if input.alpha > 17"))
            .each(data.into_iter().chain(query), |scenario, step| {
                scenario.when(step.expect(readable_trace("weighed")))
            })
    }),
    Rule::new("enter-before-body", || {
        scenario()
            .when(
                query("x = input.alpha", json!({"alpha": 18})).expect(trace([
                    event("Enter").of("body").holding("alpha").query("body"),
                    event("Eval").of("expr").holding("alpha").query("body"),
                ])),
            )
            .each(
                query_requests("x = 4711", "explain=full"),
                |scenario, step| {
                    scenario.when(step.expect(trace([
                        event("Enter").of("body").holding(4711).query("body"),
                        event("Eval").of("expr").holding(4711).query("body"),
                    ])))
                },
            )
    }),
    Rule::new("enter-before-rule", || {
        scenario()
            .given(policy(COMPARES))
            .when(full("p", json!({"alpha": 18})).expect(trace([
                event("Enter").of("rule").holding("alpha").query("rule"),
                event("Eval").of("expr").holding("alpha").query("rule"),
            ])))
    }),
    Rule::new("exit-after-body", || {
        let exit = || event("Exit").of("body").holding("alpha");
        scenario()
            .when(query(COMPARISON, json!({"alpha": 18})).expect(trace([
                event("Enter").of("body").holding("alpha").query("body"),
                event("Eval").of("expr").holding("alpha").query("body"),
                exit().query("body"),
            ])))
            .when(query(COMPARISON, json!({"alpha": 3})).expect(trace_without(exit())))
            .each(
                query_requests("x = 4711", "explain=full"),
                |scenario, step| {
                    scenario.when(step.expect(trace([
                        event("Eval").of("expr").holding(4711).query("body"),
                        event("Exit").of("body").holding(4711).query("body"),
                    ])))
                },
            )
    }),
    Rule::new("exit-after-rule", || {
        let exit = || event("Exit").of("rule").holding("alpha");
        scenario()
            .given(policy(COMPARES))
            .when(full("p", json!({"alpha": 18})).expect(trace([
                event("Enter").of("rule").holding("alpha").query("rule"),
                event("Eval").of("expr").holding("alpha").query("rule"),
                exit().query("rule"),
            ])))
            .when(full("p", json!({"alpha": 3})).expect(trace_without(exit())))
    }),
    Rule::new("eval-before-expression", || {
        scenario()
            .given(policy(COMPARES))
            .when(full("p", json!({"alpha": 18})).expect(trace([
                event("Eval").of("expr").holding("alpha").not_binding(18),
                event("Eval").of("expr").holding(17).binding(18),
            ])))
    }),
    Rule::new("fail-after-false", || {
        // The decision is undefined, but has a trace.
        let failed = [
            full("p", json!({"alpha": 3})),
            traced_get("p", "explain=full", &json!({"alpha": 3})),
        ];
        scenario()
            .given(policy(COMPARES))
            .each(failed, |scenario, step| {
                scenario.when(
                    step.expect(trace([
                        event("Eval").of("expr").holding(17),
                        event("Fail").of("expr").holding(17),
                    ]))
                    .expect(trace_without(event("Fail").of("expr").holding("alpha"))),
                )
            })
            .when(full("p", json!({"alpha": 18})).expect(trace_without(event("Fail").of("expr"))))
    }),
    Rule::new("redo-body", || {
        scenario().when(
            query("x = input.alpha[_]", json!({"alpha": [11, 12]})).expect(trace([
                event("Exit").of("body").holding("alpha").query("body"),
                event("Redo").of("body").holding("alpha").query("body"),
                event("Exit").of("body").holding("alpha").query("body"),
            ])),
        )
    }),
    Rule::new("redo-rule", || {
        scenario()
            .given(policy("p contains x if x := input.alpha[_]"))
            .when(full("p", json!({"alpha": [11, 12]})).expect(trace([
                event("Exit").of("rule").holding("alpha").query("rule"),
                event("Redo").of("rule").holding("alpha").query("rule"),
                event("Exit").of("rule").holding("alpha").query("rule"),
            ])))
    }),
    Rule::new("redo-expression", || {
        scenario().given(policy(STEPS)).when(
            full("p", json!({"alpha": [11, 12], "beta": 3})).expect(trace([
                event("Eval").of("expr").holding(11).binding(11),
                event("Redo").of("expr").holding("alpha"),
                event("Eval").of("expr").holding(11).binding(12),
            ])),
        )
    }),
    Rule::new("queries-told-apart", || {
        scenario()
            .given(policy(CALLS))
            .when(full("p", json!({"beta": 3})).expect(trace([
                event("Enter").of("rule").holding("p").query("outer"),
                event("Enter").of("rule").holding("beta").query("inner"),
                event("Exit").of("rule").holding("beta").query("inner"),
                event("Exit").of("rule").holding("p").query("outer"),
            ])))
    }),
    Rule::new("rule-body-has-caller-as-parent", || {
        scenario().given(policy(CALLS)).when(
            full("p", json!({"beta": 3})).expect(trace([
                event("Enter").of("rule").holding("p").query("outer"),
                event("Enter")
                    .of("rule")
                    .holding("beta")
                    .query("inner")
                    .parent("outer"),
                event("Eval")
                    .of("expr")
                    .holding("beta")
                    .query("inner")
                    .parent("outer"),
            ])),
        )
    }),
    Rule::new("comprehension-has-caller-as-parent", || {
        let rules = "p if count([x | x := input.alpha[_]]) > 1";
        scenario().given(policy(rules)).when(
            full("p", json!({"alpha": [11, 12]})).expect(trace([
                event("Enter").of("rule").holding("p").query("outer"),
                event("Enter")
                    .of("body")
                    .holding("alpha")
                    .query("inner")
                    .parent("outer"),
                event("Eval")
                    .of("expr")
                    .holding("alpha")
                    .query("inner")
                    .parent("outer"),
            ])),
        )
    }),
    Rule::new("decision-log-format", || {
        let text = |member: &str| kind_among(format!("/0/{member}"), &[Kind::String, Kind::Absent]);
        logged(|step| {
            step.expect(text("path"))
                .expect(text("timestamp"))
                .expect(text("requested_by"))
                .expect(kind_among("/0/labels", &[Kind::Object, Kind::Absent]))
                .expect(kind_among("/0/metrics", &[Kind::Object, Kind::Absent]))
                .expect(at("/0/input"))
                .expect(at("/0/result"))
        })
    }),
    Rule::new("status-message-format", || {
        pushed(|step| {
            step.expect(kind_among("/0/labels", &[Kind::Object, Kind::Absent]))
                .expect(kind_among("/0/plugins", &[Kind::Object, Kind::Absent]))
                .expect(kind_among("/0/metrics", &[Kind::Object, Kind::Absent]))
        })
    }),
    Rule::new("decision-log-carries-decision-id", || {
        logged(|step| step.expect(kind("", Kind::Array)))
    }),
    Rule::new("status-is-pushed", || {
        let not_empty = Check::Differs("/0".into(), json!({}));
        let received = mock(get("/received/status")).until([not_empty]);
        scenario()
            .setup("status")
            .when(received.expect(kind("", Kind::Array)))
    }),
];

/// Requests a decision, and judges the log events with its identifier that the fixture server
/// received.
fn logged(judge: impl Fn(Step) -> Step) -> Scenario {
    scenario()
        .setup("decision-logs")
        .given(policy("answer := input.n + 1"))
        .when(
            post("/v1/data/{ns}/answer")
                .json(json!({"input": {"n": 41}}))
                .expect(kind("/decision_id", Kind::String))
                .capture("decision", "/decision_id"),
        )
        .when(judge(
            mock(get("/received/logs?holds={decision}")).until([Check::AtLeast(String::new(), 1)]),
        ))
}

/// Judges the status messages that the fixture server received.
fn pushed(judge: impl Fn(Step) -> Step) -> Scenario {
    let received = mock(get("/received/status"));
    let received = received.until([Check::AtLeast(String::new(), 1)]);
    scenario().setup("status").when(judge(received))
}

/// A rule that binds a value and compares it.
pub(crate) const COMPARES: &str = "p if {\n\tx := input.alpha\n\tx > 17\n}";

/// The body of [`COMPARES`] as a query.
const COMPARISON: &str = "x = input.alpha; x > 17";

/// A rule that binds values in turn, compares them, and then calls another rule.
pub(crate) const STEPS: &str =
    "p contains x if {\n\tx := input.alpha[_]\n\tx > 11\n\tq\n}\n\nq if input.beta > 2";

/// A rule that calls another one.
pub(crate) const CALLS: &str = "p if q\n\nq if input.beta > 2";

/// A call of a rule with an input.
pub(crate) fn traced(rule: &str, parameters: &str, input: Value) -> Step {
    post(format!("/v1/data/{{ns}}/{rule}?{parameters}")).json(json!({"input": input}))
}

/// [`traced`] by GET.
fn traced_get(rule: &str, parameters: &str, input: &Value) -> Step {
    let input = encode(&input.to_string());
    get(format!("/v1/data/{{ns}}/{rule}?input={input}&{parameters}"))
}

/// A query without input, by GET and by POST.
pub(crate) fn query_requests(text: &str, parameters: &str) -> [Step; 2] {
    [
        get(format!("{}&{parameters}", query_path(text))),
        post(format!("/v1/query?{parameters}")).json(json!({"query": text})),
    ]
}

/// Expects that these decisions and queries have a result and no trace.
fn untraced(data: [Step; 2], query: [Step; 2]) -> Scenario {
    let scenario = scenario().given(policy(STEPS));
    let scenario = scenario.each(data, |scenario, step| {
        scenario.when(step.expect(at("/result")).expect(no_trace()))
    });
    scenario.each(query, |scenario, step| {
        scenario.when(step.expect(bindings("/result", &["x"])).expect(no_trace()))
    })
}

/// A call of a rule with its full trace.
pub(crate) fn full(rule: &str, input: Value) -> Step {
    traced(rule, "explain=full", input)
}

/// A query for the rule `p` with a trace of this kind.
fn query_with(explain: &str, input: Value) -> Step {
    post(format!("/v1/query?explain={explain}"))
        .json(json!({"query": "data.{ns}.p = x", "input": input}))
}

/// A query with its full trace.
fn query(text: &str, input: Value) -> Step {
    post("/v1/query?explain=full").json(json!({"query": text, "input": input}))
}

/// Expects the steps of an evaluation that fails once, backtracks and calls another rule.
fn every_step(explain: &str) -> Scenario {
    scenario().given(policy(STEPS)).when(
        traced("p", explain, json!({"alpha": [11, 12], "beta": 3})).expect(trace([
            event("Enter").of("body"),
            event("Enter").of("rule").holding("alpha"),
            event("Eval").of("expr").holding("alpha"),
            event("Eval").of("expr").holding(11).binding(11),
            event("Fail").of("expr").holding(11).binding(11),
            event("Redo").of("expr").holding("alpha"),
            event("Eval").of("expr").holding(11).binding(12),
            event("Enter").of("rule").holding("beta"),
            event("Eval").of("expr").holding("beta"),
            event("Exit").of("rule").holding("beta"),
            event("Exit").of("rule").holding("alpha"),
            event("Exit").of("body"),
        ])),
    )
}
