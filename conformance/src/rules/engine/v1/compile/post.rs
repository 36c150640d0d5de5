//! POST /v1/compile

use crate::rules::engine::policy;
use crate::scenario::*;

/// Rules of which two depend on the input, each in one way.
const ALLOW: &str = "allow if input.level > 3

deny if {
	input.user == \"mallory\"
	input.level < 7
}";

pub(crate) const RULES: &[Rule] = &[
    Rule::new("query-is-evaluated-partially", || {
        scenario()
            .given(policy(&format!("{ALLOW}\n\n{NEGATED}\n\n{CHAIN}")))
            .when(left(json!({"query": "data.{ns}.allow == true"})))
            .when(left(json!({"query": "data.{ns}.deny == true"})))
            .when(left(json!({"query": "input.a == 1 + 2"})))
            .when(left(json!({"query": "data.{ns}.other == true"})))
            .when(
                compile(json!({"query": "data.{ns}.replaced == true"}))
                    .keep(success())
                    .keep(holds("/result/queries", replaced("a", 4711)))
                    .keep(holds("/result/queries", equals("b", 3))),
            )
    }),
    Rule::new("query-required", || {
        scenario().when(
            compile(json!({"input": {"a": 1}}))
                .off_contract("`query` is left out")
                .keep(status()),
        )
    }),
    Rule::new("input-is-used", || {
        let asked = |user: &str| {
            left(json!({
                "query": "data.{ns}.deny == true",
                "input": {"user": user},
                "unknowns": ["input.level"],
            }))
        };
        scenario()
            .given(policy(ALLOW))
            .when(asked("mallory"))
            .when(nothing(json!({
                "query": "data.{ns}.deny == true",
                "input": {"user": "alice"},
                "unknowns": ["input.level"],
            })))
    }),
    Rule::new("input-default-undefined", || {
        scenario().given(policy(ALLOW)).when(nothing(json!({
            "query": "data.{ns}.deny == true",
            "unknowns": ["input.level"],
        })))
    }),
    Rule::new("options-optional", || {
        scenario()
            .given(policy(ALLOW))
            .when(left(json!({"query": "data.{ns}.allow == true"})))
            .when(left(
                json!({"query": "data.{ns}.allow == true", "options": {}}),
            ))
    }),
    Rule::new("disable-inlining", || {
        scenario().given(policy(CHAIN)).when(
            compile(json!({
                "query": "data.{ns}.outer == true",
                "options": {"disableInlining": ["data.{ns}.helper"]},
            }))
            .keep(success())
            .keep(length("/result/queries"))
            .keep(holds("/result/queries", name("helper")))
            .keep(holds("/result/queries", equals("b", 2)))
            .keep(holds("/result", equals("a", 4711))),
        )
    }),
    Rule::new("disable-inlining-default", || {
        scenario()
            .given(policy(CHAIN))
            .when(left(json!({"query": "data.{ns}.outer == true"})))
    }),
    Rule::new("nondeterministic-builtins", || {
        scenario().given(policy(CLOCK)).when(always(json!({
            "query": "data.{ns}.late == true",
            "options": {"nondeterminsticBuiltins": true},
        })))
    }),
    Rule::new("nondeterministic-builtins-default", || {
        let asked = |options: Value| {
            compile(json!({"query": "data.{ns}.late == true", "options": options}))
                .keep(success())
                .keep(holds("/result/queries", name("now_ns")))
                .keep(holds("/result/queries", operator("gt")))
                .keep(holds("/result/queries", number(1000)))
        };
        scenario()
            .given(policy(CLOCK))
            .when(asked(json!({})))
            .when(asked(json!({"nondeterminsticBuiltins": false})))
    }),
    Rule::new("unknowns-are-unknown", || {
        scenario()
            .given(policy(ALLOW))
            .when(left(json!({
                "query": "data.{ns}.deny == true",
                "input": {"level": 2, "user": "alice"},
                "unknowns": ["input.user"],
            })))
            .when(left(json!({
                "query": "data.{ns}_other.levels[\"a\"] < 3",
                "unknowns": ["data.{ns}_other.levels"],
            })))
    }),
    Rule::new("unknowns-default-input", || {
        scenario()
            .given(policy(ALLOW))
            .when(left(json!({
                "query": "data.{ns}.deny == true; data.{ns}.allow == true",
            })))
            .when(left(json!({"query": "input == {\"a\": 1}"})))
    }),
    Rule::new("status", || {
        scenario().when(compile(json!({"query": "input.a == 4711"})).keep(status()))
    }),
    Rule::new("json-body", || {
        scenario().when(
            left(json!({"query": "input.a == [1, \"json\"]"}))
                .header("Content-Type", "application/json"),
        )
    }),
    Rule::new("gzip-request", || {
        scenario().when(left(json!({"query": "input.a == \"packed\""})).gzip())
    }),
    Rule::new("gzip-response", || {
        let conditions = (0..60).map(|number| format!("input.a{number} == {number}"));
        let query = conditions.collect::<Vec<_>>().join("; ");
        scenario().when(
            left(json!({"query": query}))
                .header("Accept-Encoding", "gzip")
                .keep(status())
                .keep(header("Content-Encoding")),
        )
    }),
    Rule::new("malformed-query-is-400", || {
        scenario().each(
            [
                "input.a ==",
                "}{",
                "x = \"open",
                "no_such_function(input.a)",
            ],
            |scenario, query| scenario.when(compile(json!({"query": query})).keep(status())),
        )
    }),
    Rule::new("explain", || {
        scenario().when(
            post("/v1/compile?explain=full")
                .json(json!({"query": "input.a == 4711"}))
                .keep(residual("/result/queries"))
                .keep(trace([any_event().holding(4711)])),
        )
    }),
    Rule::new("metrics", || {
        scenario().when(
            post("/v1/compile?metrics=true")
                .json(json!({"query": "input.a == 4711"}))
                .keep(residual("/result/queries"))
                .keep(kind("/metrics", Kind::Object)),
        )
    }),
    Rule::new("instrument", || {
        scenario().when(
            post("/v1/compile?instrument=true")
                .json(json!({"query": "input.a == 4711"}))
                .keep(residual("/result/queries"))
                .keep(kind("/metrics", Kind::Object))
                .keep(each(
                    "/metrics/timer_query_compile_stage_*_ns",
                    Kind::Integer,
                )),
        )
    }),
    Rule::new("queries-is-array", || {
        scenario().given(policy(ALLOW)).when(
            compile(json!({"query": "data.{ns}.allow == true"}))
                .keep(kind("/result/queries", Kind::Array))
                .keep(each("/result/queries/*", Kind::Array)),
        )
    }),
    Rule::new("expressions-in-ast-form", || {
        scenario().given(policy(ALLOW)).when(
            compile(json!({"query": "data.{ns}.deny == true"}))
                .keep(each("/result/queries/*/*/index", Kind::Integer))
                .keep(each("/result/queries/*/*/terms", Kind::Array))
                .keep(each("/result/queries/*/*/terms/*/type", Kind::String)),
        )
    }),
    Rule::new("several-queries", || {
        let rules = "p if input.a == 1\n\np if input.b == 2\n\np if input.c == 3";
        scenario()
            .given(policy(rules))
            .when(left(json!({"query": "data.{ns}.p == true"})).keep(length("/result/queries")))
    }),
    Rule::new("input-unknown-leaves-conditions", || {
        scenario().given(policy(ALLOW)).when(left(json!({
            "query": "data.{ns}.allow == true",
            "unknowns": ["input"],
        })))
    }),
    Rule::new("unknowns-left-out-leaves-conditions", || {
        let query = "data.{ns}.deny == true";
        scenario()
            .given(policy(ALLOW))
            .when(left(json!({"query": query})))
            .when(left(json!({"query": query, "unknowns": ["input"]})))
    }),
    Rule::new("no-unknowns-is-empty", || {
        scenario().given(policy(ALLOW)).when(nothing(json!({
            "query": "data.{ns}.allow == true",
            "unknowns": [],
        })))
    }),
    Rule::new("follows-policies-and-documents", || {
        // Asked often enough to be kept by a server that keeps residuals.
        let limit = |limit: u32| put("/v1/data/{ns}/limit").json(json!(limit));
        let asked = left(json!({"query": "data.{ns}.p == true"}));
        scenario()
            .given(limit(1))
            .given(policy("p if input.a > data.{ns}.limit"))
            .when(asked.clone())
            .when(asked.clone())
            .when(limit(2).keep(success()))
            .when(asked.clone())
            .when(policy("p if input.b > data.{ns}.limit").keep(success()))
            .when(asked)
    }),
    Rule::new("always-true-is-one-empty-query", || {
        scenario()
            .given(policy("p if 1 == 1\n\nq if count([1, 2]) == 2"))
            .when(always(json!({"query": "data.{ns}.p == true"})))
            .when(always(json!({"query": "data.{ns}.q == true"})))
            .when(always(json!({"query": "1 < 2"})))
    }),
    Rule::new("always-false-is-empty", || {
        scenario()
            .given(policy("p if 1 == 2\n\nq if {\n\tinput.a == 1\n\t2 < 1\n}"))
            .when(nothing(json!({"query": "data.{ns}.p == true"})))
            .when(nothing(json!({"query": "data.{ns}.q == true"})))
            .when(nothing(json!({"query": "1 > 2"})))
    }),
];

/// A rule that needs a condition not to hold, and one that replaces a part of the input.
const NEGATED: &str = "other if {
	not input.a == 1
	input.b == 2
}

replaced if {
	helper with input.a as 4711
	input.b == 3
}";

/// A rule that needs another.
const CHAIN: &str = "outer if {
	helper
	input.b == 2
}

helper if input.a == 4711";

/// A rule that asks for the time, and holds since long ago.
const CLOCK: &str = "late if time.now_ns() > 1000";

/// A request for what is left of a query.
pub(crate) fn compile(body: Value) -> Step {
    post("/v1/compile").json(body)
}

/// A query that leaves conditions.
fn left(body: Value) -> Step {
    compile(body).keep(residual("/result/queries"))
}

/// A query that holds whatever the unknowns are.
fn always(body: Value) -> Step {
    compile(body).keep(status()).keep(at("/result/queries"))
}

/// A query that can never hold.
fn nothing(body: Value) -> Step {
    compile(body).keep(status()).keep(at("/result"))
}

/// A part of a reference.
fn name(name: &str) -> Value {
    json!({"type": "string", "value": name})
}

fn number(number: u32) -> Value {
    json!({"type": "number", "value": number})
}

fn operator(name: &str) -> Value {
    json!({"type": "ref", "value": [{"type": "var", "value": name}]})
}

/// The reference to a part of the input.
fn of_input(part: &str) -> Value {
    json!({"type": "ref", "value": [{"type": "var", "value": "input"}, name(part)]})
}

/// The terms of the condition that a part of the input equals a number.
fn equals(part: &str, value: u32) -> Value {
    json!([operator("eq"), of_input(part), number(value)])
}

/// What `with` replaces a part of the input by.
fn replaced(part: &str, value: u32) -> Value {
    json!([{"target": of_input(part), "value": number(value)}])
}
