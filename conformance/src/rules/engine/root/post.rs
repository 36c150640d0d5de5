//! POST /

use crate::rules::engine::shared_policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("evaluates-system-main", || {
        main_decision(r#"main := {"decided": "{ns}"}"#).when(
            post("/")
                .json(json!({"who": "alice"}))
                .expect(status())
                .expect(at("/decided")),
        )
    }),
    Rule::new("document-is-whole-response", || {
        main_decision("main := input.shape").each(
            [
                json!({"result": [1, "two", null]}),
                json!([{}]),
                json!("text"),
                json!(1.5),
                json!(false),
            ],
            |scenario, shape| scenario.when(post("/").json(json!({"shape": shape})).expect(body())),
        )
    }),
    Rule::new("json-input", || {
        main_decision(r#"main := [input.who, input["n"]]"#)
            .when(
                post("/")
                    .json(json!({"who": "alice", "n": 1}))
                    .expect(body()),
            )
            .when(
                post("/")
                    .json(json!({"who": ["bob"], "n": 2}))
                    .expect(body()),
            )
    }),
    Rule::new("yaml-input", || {
        main_decision(r#"main := [input.who, input["n"]]"#).when(
            post("/")
                .text("application/yaml", "who: alice\nn:\n  - 1\n  - m: 2\n")
                .expect(body()),
        )
    }),
    Rule::new("default-decision-overrides-path", || {
        main_decision(r#"main := "the usual path""#)
            .setup("default-decision")
            .given(shared_policy(
                "checks",
                r#"decision := "the path that is set""#,
            ))
            .when(post("/").json(json!({"who": "alice"})).expect(body()))
    }),
    Rule::new("undefined-is-404", || {
        main_decision(r#"main if input.who != "bob""#)
            .given(post("/").json(json!({"who": "alice"})))
            .when(post("/").json(json!({"who": "bob"})).expect(status()))
    }),
    Rule::new("malformed-input-is-400", || {
        main_decision("main := true")
            .given(post("/").json(json!({"who": "alice"})))
            .when(
                post("/")
                    .text("application/json", r#"{"who": "#)
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
            .when(
                post("/")
                    .text("application/yaml", "who: [1, 2")
                    .off_contract("the body is cut off")
                    .expect(status()),
            )
    }),
];

/// Defines the document at `system/main` by this rule. A server has only one such document.
pub(crate) fn main_decision(rule: &str) -> Scenario {
    scenario()
        .changes_global()
        .given(shared_policy("system", rule))
}
