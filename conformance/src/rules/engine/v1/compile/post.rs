//! POST /v1/compile

use crate::rules::engine::policy;
use crate::scenario::*;

/// Two rules, each of which is true under one set of conditions on the input.
const ALLOW: &str = "allow if input.level > 3

deny if {
	input.user == \"mallory\"
	input.level < 7
}";

pub(crate) const RULES: &[Rule] = &[
    Rule::new("query-is-evaluated-partially", || {
        scenario()
            .given(policy(&format!("{ALLOW}\n\n{NEGATED}\n\n{CHAIN}")))
            .when(residual_of(json!({"query": "data.{ns}.allow == true"})))
            .when(residual_of(json!({"query": "data.{ns}.deny == true"})))
            .when(residual_of(json!({"query": "input.a == 1 + 2"})))
            .when(residual_of(json!({"query": "data.{ns}.other == true"})))
            // A server may evaluate `helper` with the replaced input, or leave it in the residual.
            .when(
                compile(json!({"query": "data.{ns}.replaced == true"})).expect(residual_like(
                    "/result/queries",
                    [
                        vec![r#"3 == input["b"]"#],
                        vec![r#"3 == input["b"]"#, r#"* with input["a"] as 4711"#],
                        vec![
                            r#"3 == input["b"]"#,
                            r#"* with input["a"] as 4711"#,
                            r#"* with input["a"] as 4711"#,
                        ],
                    ],
                )),
            )
    }),
    Rule::new("query-required", || {
        scenario().when(
            compile(json!({"input": {"a": 1}}))
                .off_contract("`query` is left out")
                .expect(status()),
        )
    }),
    Rule::new("input-is-used", || {
        let deny_residual = |user: &str| {
            residual_of(json!({
                "query": "data.{ns}.deny == true",
                "input": {"user": user},
                "unknowns": ["input.level"],
            }))
        };
        scenario()
            .given(policy(ALLOW))
            .when(deny_residual("mallory"))
            .when(never_true(json!({
                "query": "data.{ns}.deny == true",
                "input": {"user": "alice"},
                "unknowns": ["input.level"],
            })))
    }),
    Rule::new("input-default-undefined", || {
        scenario().given(policy(ALLOW)).when(never_true(json!({
            "query": "data.{ns}.deny == true",
            "unknowns": ["input.level"],
        })))
    }),
    Rule::new("options-optional", || {
        scenario()
            .given(policy(ALLOW))
            .when(residual_of(json!({"query": "data.{ns}.allow == true"})))
            .when(residual_of(
                json!({"query": "data.{ns}.allow == true", "options": {}}),
            ))
    }),
    Rule::new("disable-inlining", || {
        scenario()
            .given(policy(&format!("{CHAIN}\n\nother if input.c == 3")))
            .each(
                [
                    &["data.{ns}.helper"][..],
                    &["data.{ns}.other", "data.{ns}.helper"],
                ],
                |scenario, not_inlined| {
                    scenario.when(
                        compile(json!({
                            "query": "data.{ns}.outer == true",
                            "options": {"disableInlining": not_inlined},
                        }))
                        .expect(residual_like(
                            "/result/queries",
                            [vec![r#"2 == input["b"]"#, "*helper*"]],
                        )),
                    )
                },
            )
    }),
    Rule::new("disable-inlining-default", || {
        scenario()
            .given(policy(CHAIN))
            .when(residual_of(json!({"query": "data.{ns}.outer == true"})))
    }),
    Rule::new("nondeterministic-builtins", || {
        scenario().given(policy(CLOCK)).when(always_true(json!({
            "query": "data.{ns}.late == true",
            "options": {"nondeterminsticBuiltins": true},
        })))
    }),
    Rule::new("nondeterministic-builtins-default", || {
        let late_residual = |options: Value| {
            compile(json!({"query": "data.{ns}.late == true", "options": options}))
                .expect(kind("/result/queries/0/0", Kind::Object))
                .expect(mentions("now"))
                .expect(holds("/result/queries", number(1000)))
        };
        scenario()
            .given(policy(CLOCK))
            .when(late_residual(json!({})))
            .when(late_residual(json!({"nondeterminsticBuiltins": false})))
    }),
    Rule::new("unknowns-are-unknown", || {
        scenario()
            .given(policy(ALLOW))
            .when(residual_of(json!({
                "query": "data.{ns}.deny == true",
                "input": {"level": 2, "user": "alice"},
                "unknowns": ["input.user"],
            })))
            .when(residual_of(json!({
                "query": "data.{ns}_other.levels[\"a\"] < 3",
                "unknowns": ["data.{ns}_other.levels"],
            })))
            // If the server used the input's values, `deny` would be false and no condition would
            // remain.
            .when(residual_of(json!({
                "query": "data.{ns}.deny == true; data.{ns}_other.levels[\"a\"] < 3",
                "input": {"level": 8, "user": "alice"},
                "unknowns": ["input.level", "input.user", "data.{ns}_other.levels"],
            })))
    }),
    Rule::new("unknowns-default-input", || {
        scenario()
            .given(policy(ALLOW))
            .when(residual_of(json!({
                "query": "data.{ns}.deny == true; data.{ns}.allow == true",
            })))
            .when(residual_of(json!({"query": "input == 4711"})))
    }),
    Rule::new("status", || {
        scenario().when(compile(json!({"query": "input.a == 4711"})).expect(status()))
    }),
    Rule::new("json-body", || {
        scenario().when(
            residual_of(json!({"query": "input.a == \"json\""}))
                .header("Content-Type", "application/json"),
        )
    }),
    Rule::new("gzip-request", || {
        scenario().when(residual_of(json!({"query": "input.a == \"packed\""})).gzip())
    }),
    Rule::new("gzip-response", || {
        let conditions = (0..60).map(|number| format!("input.a{number} == {number}"));
        let query = conditions.collect::<Vec<_>>().join("; ");
        scenario().when(
            residual_of(json!({"query": query}))
                .header("Accept-Encoding", "gzip")
                .expect(status())
                .expect(header("Content-Encoding")),
        )
    }),
    Rule::new("malformed-query-is-400", || {
        scenario().each(
            [
                "input.a ==",
                "}{",
                "x = \"open",
                "no_such_function(input.a)",
                "x > 1",
            ],
            |scenario, query| scenario.when(compile(json!({"query": query})).expect(status())),
        )
    }),
    Rule::new("malformed-body-is-400", || {
        scenario().each(
            [
                r#"{"query": "input.a == 1""#,
                r#"["input.a == 1"]"#,
                r#""input.a == 1""#,
            ],
            |scenario, text| {
                scenario.when(
                    post("/v1/compile")
                        .text("application/json", text)
                        .off_contract("the body is truncated or not an object")
                        .expect(status()),
                )
            },
        )
    }),
    Rule::new("explain", || {
        scenario()
            .when(
                post("/v1/compile?explain=full")
                    .json(json!({"query": "input.a == 4711"}))
                    .expect(residual("/result/queries"))
                    .expect(trace([any_event().holding(4711)])),
            )
            .each(["", "?explain=off"], |scenario, parameters| {
                scenario.when(
                    post(format!("/v1/compile{parameters}"))
                        .json(json!({"query": "input.a == 4711"}))
                        .expect(residual("/result/queries"))
                        .expect(no_trace()),
                )
            })
    }),
    Rule::new("metrics", || {
        scenario().when(
            post("/v1/compile?metrics=true")
                .json(json!({"query": "input.a == 4711"}))
                .expect(residual("/result/queries"))
                .expect(kind("/metrics", Kind::Object))
                .expect(kind("/metrics/timer_server_handler_ns", Kind::Amount)),
        )
    }),
    Rule::new("instrument", || {
        scenario().when(
            post("/v1/compile?instrument=true")
                .json(json!({"query": "input.a == 4711"}))
                .expect(residual("/result/queries"))
                .expect(kind("/metrics", Kind::Object))
                .expect(each(
                    "/metrics/timer_query_compile_stage_*_ns",
                    Kind::Integer,
                )),
        )
    }),
    Rule::new("queries-is-array", || {
        scenario().given(policy(ALLOW)).when(
            compile(json!({"query": "data.{ns}.allow == true"}))
                .expect(kind("/result/queries", Kind::Array))
                .expect(each("/result/queries/*", Kind::Array)),
        )
    }),
    Rule::new("expressions-in-ast-form", || {
        scenario().given(policy(ALLOW)).when(
            compile(json!({"query": "data.{ns}.deny == true"}))
                .expect(each("/result/queries/*/*/index", Kind::Integer))
                .expect(each("/result/queries/*/*/terms", Kind::Array))
                .expect(each("/result/queries/*/*/terms/*/type", Kind::String)),
        )
    }),
    Rule::new("several-queries", || {
        let rules = "p if input.a == 1\n\np if input.b == 2\n\np if input.c == 3";
        scenario().given(policy(rules)).when(
            residual_of(json!({"query": "data.{ns}.p == true"})).expect(length("/result/queries")),
        )
    }),
    Rule::new("input-unknown-leaves-conditions", || {
        scenario().given(policy(ALLOW)).when(residual_of(json!({
            "query": "data.{ns}.allow == true",
            "unknowns": ["input"],
        })))
    }),
    Rule::new("unknowns-left-out-leaves-conditions", || {
        let query = "data.{ns}.deny == true";
        scenario()
            .given(policy(ALLOW))
            .when(residual_of(json!({"query": query})))
            .when(residual_of(json!({"query": query, "unknowns": ["input"]})))
    }),
    Rule::new("no-unknowns-is-empty", || {
        scenario().given(policy(ALLOW)).when(never_true(json!({
            "query": "data.{ns}.allow == true",
            "unknowns": [],
        })))
    }),
    Rule::new("follows-policies-and-documents", || {
        // Repeated, so that a server that caches residuals caches this one.
        let limit = |limit: u32| put("/v1/data/{ns}/limit").json(json!(limit));
        let compile_request = residual_of(json!({"query": "data.{ns}.p == true"}));
        scenario()
            .given(limit(1))
            .given(policy("p if input.a > data.{ns}.limit"))
            .when(compile_request.clone())
            .when(compile_request.clone())
            .when(limit(2).expect(success()))
            .when(compile_request.clone())
            .when(policy("p if input.b > data.{ns}.limit").expect(success()))
            .when(compile_request)
    }),
    Rule::new("always-true-is-one-empty-query", || {
        let policy = policy("p if 1 == 1\n\nq if count([1, 2]) == 2");
        scenario().given(policy).each(
            with_unknowns(["data.{ns}.p == true", "data.{ns}.q == true", "1 < 2"]),
            |scenario, body| scenario.when(always_true(body)),
        )
    }),
    Rule::new("always-false-is-empty", || {
        let policy = policy("p if 1 == 2\n\nq if {\n\tinput.a == 1\n\t2 < 1\n}");
        scenario().given(policy).each(
            with_unknowns(["data.{ns}.p == true", "data.{ns}.q == true", "1 > 2"]),
            |scenario, body| scenario.when(never_true(body)),
        )
    }),
];

/// A rule that negates a condition, and one that replaces a part of the input.
const NEGATED: &str = "other if {
	not input.a == 1
	input.b == 2
}

replaced if {
	helper with input.a as 4711
	input.b == 3
}";

/// A rule that refers to another one.
const CHAIN: &str = "outer if {
	helper
	input.b == 2
}

helper if input.a == 4711";

/// A rule on the current time, which is always true.
const CLOCK: &str = "late if time.now_ns() > 1000";

/// A request for the residual of a query.
pub(crate) fn compile(body: Value) -> Step {
    post("/v1/compile").json(body)
}

/// Request bodies for each query: with the default unknowns, with none, and with the input unknown.
fn with_unknowns<const N: usize>(queries: [&str; N]) -> Vec<Value> {
    let each = |query: &str| {
        [
            json!({"query": query}),
            json!({"query": query, "unknowns": []}),
            json!({"query": query, "unknowns": ["input"]}),
        ]
    };
    queries.into_iter().flat_map(each).collect()
}

/// Requests the residual of a query, and expects conditions.
fn residual_of(body: Value) -> Step {
    compile(body).expect(residual("/result/queries"))
}

/// Requests the residual of a query that is true for all values of the unknowns.
fn always_true(body: Value) -> Step {
    compile(body).expect(status()).expect(at("/result/queries"))
}

/// Requests the residual of a query that can never be true.
fn never_true(body: Value) -> Step {
    compile(body).expect(status()).expect(at("/result"))
}

/// A number as a term.
fn number(number: u32) -> Value {
    json!({"type": "number", "value": number})
}
