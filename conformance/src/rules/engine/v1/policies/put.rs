//! PUT /v1/policies/{id}

use crate::rules::engine::mock::loaded_alone;
use crate::rules::engine::{module, policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("answers-empty-object", || {
        scenario().each([42, 43], |scenario, answer| {
            let is_installed = [Check::Equals("/result".to_owned(), json!(answer))];
            scenario
                .when(
                    policy(&format!("answer := {answer}"))
                        .expect(status())
                        .expect(body()),
                )
                .given(get("/v1/data/{ns}/answer").shows(is_installed))
        })
    }),
    Rule::new("takes-plain-text", || {
        scenario()
            .when(
                put("/v1/policies/{ns}")
                    .text("text/plain", module("{ns}", "answer := 42"))
                    .expect(success()),
            )
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
    }),
    Rule::new("creates-when-absent", || {
        scenario()
            .when(get("/v1/policies/{ns}").expect(error()))
            .when(policy("answer := 42").expect(success()))
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
    }),
    Rule::new("replaces-when-present", || {
        scenario()
            .given(policy("answer := 42\n\nformer := 1"))
            .when(policy("answer := 43\n\npresent := 2").expect(success()))
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("replaced-package-is-gone", || {
        let other = module("{ns}.other", "present := 2");
        scenario()
            .given(policy("former := 1"))
            .when(
                put("/v1/policies/{ns}")
                    .text("text/plain", other)
                    .expect(success()),
            )
            .when(get("/v1/data/{ns}/former").expect(lacks("/result")))
            .when(get("/v1/data/{ns}/other/present").expect(at("/result")))
    }),
    Rule::new("installs-rules", || {
        scenario()
            .when(next("41").expect(lacks("/result")))
            .when(policy("next := input.n + 1").expect(success()))
            .when(next("41").expect(at("/result")))
            .when(next("16").expect(at("/result")))
    }),
    Rule::new("parse-failure-is-400", || {
        refused(&UNPARSABLE, |step| step.expect(status()))
    }),
    Rule::new("compile-failure-is-400", || {
        refused(&UNCOMPILABLE, |step| step.expect(status()))
    }),
    Rule::new("message-names-step", || {
        let [unparsable, ..] = UNPARSABLE;
        let parsing = scenario().when(
            policy(unparsable)
                .expect(error())
                .expect(kind("/message", Kind::Text))
                .capture("parsing", "/message"),
        );
        UNCOMPILABLE.iter().fold(parsing, |scenario, rules| {
            scenario.when(
                policy(rules)
                    .expect(error())
                    .expect(kind("/message", Kind::Text))
                    .expect(other_than("/message", "parsing")),
            )
        })
    }),
    Rule::new("failed-put-keeps-old", || {
        let scenario = UNPARSABLE.iter().chain(&UNCOMPILABLE).fold(
            scenario().given(policy("answer := 42")),
            |scenario, rules| {
                scenario
                    .when(policy(&format!("answer := 43\n\n{rules}")).expect(error()))
                    .when(get("/v1/data/{ns}/answer").expect(at("/result")))
            },
        );
        scenario
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
            .when(
                put("/v1/policies/{ns}.new")
                    .text("text/plain", module("{ns}.new", "allow if missing > 1"))
                    .expect(error()),
            )
            .when(get("/v1/policies/{ns}.new").expect(error()))
    }),
    Rule::new("bundle-owned-package-refused", || {
        let answer = || get("/v1/data/rules/answer").expect(at("/result"));
        let others = || get("/v1/data/limits/answer").expect(at("/result"));
        let is_active = Check::Equals("/result".into(), json!(42));
        loaded_alone()
            .changes_global()
            .each(["rules", "limits"], |scenario, bundle| {
                let answer = get(format!("/v1/data/{bundle}/answer"));
                scenario.given(answer.until([is_active.clone()]))
            })
            .given(get("/v1/policies").capture("module", "/result/0/id"))
            .when(answer())
            .when(others())
            .each(["rules", "rules.{ns}"], |scenario, package| {
                scenario
                    .when(
                        put("/v1/policies/{ns}")
                            .text("text/plain", module(package, "{ns} := 43"))
                            .expect(error()),
                    )
                    .when(get("/v1/policies/{ns}").expect(error()))
            })
            .when(get("/v1/data/rules/{ns}").expect(lacks("/result")))
            // Replacing the bundle's module by this one would remove the bundle's package.
            .when(
                put("/v1/policies/{module}")
                    .text("text/plain", module("{ns}", "taken_over := 43"))
                    .expect(error()),
            )
            .when(get("/v1/data/{ns}/taken_over").expect(lacks("/result")))
            .when(answer())
            .when(others())
    }),
    Rule::new("metrics", || {
        scenario().when(
            put("/v1/policies/{ns}?metrics=true")
                .text("text/plain", module("{ns}", "answer := 42"))
                .expect(kind("/metrics", Kind::Object))
                .expect(kind("/metrics/timer_rego_module_compile_ns", Kind::Amount)),
        )
    }),
    Rule::new("pretty", || {
        scenario()
            .when(
                put("/v1/policies/{ns}?pretty=true&metrics=true")
                    .text("text/plain", module("{ns}", "answer   :=  42"))
                    .expect(kind("/metrics", Kind::Object))
                    .expect(pretty()),
            )
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
            .when(get("/v1/data/{ns}/answer").expect(at("/result")))
    }),
];

/// Rules that do not parse.
const UNPARSABLE: [&str; 2] = ["allow if {", "allow if input.n > > 1"];

/// Rules that parse but do not compile: a variable without a value, and rules that depend on each
/// other.
const UNCOMPILABLE: [&str; 2] = ["allow if missing > 1", "odd if not even\n\neven if not odd"];

/// Writes each of these rules, and judges the response.
fn refused(all: &[&str], judge: impl Fn(Step) -> Step) -> Scenario {
    scenario().each(all, |scenario, rules| scenario.when(judge(policy(rules))))
}

/// Queries the rule `next`.
fn next(n: &str) -> Step {
    get(format!("/v1/data/{{ns}}/next?input=%7B%22n%22%3A{n}%7D"))
}
