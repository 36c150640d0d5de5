//! Bundles that the server ignored or wrongly accepted.

use crate::rules::engine::mock::{
    bundle, loaded_alone, put_discovery_bundle, put_fixture, requests_answered, rules_bundle,
};
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // Affects 0.39.0 to 0.41.0.
    Rule::new("decisions-during-activation", || {
        loaded_alone()
            .given(put_fixture("rules", json!("held")))
            .given(requests_answered("held", 1))
            // Releases the held requests, which receive this bundle.
            .given(put_fixture("rules", large(43)))
            .given(
                decision("before")
                    .shows([Check::Equals("/result".to_owned(), json!(42))])
                    .or_not_run("the bundle was active before a decision could be requested"),
            )
            .when(
                decision("meanwhile")
                    .until([Check::Equals("/result".to_owned(), json!(43))])
                    .expect(no_long_answer()),
            )
    }),
    // Affects 1.0.0.
    Rule::new("old-language-after-change", || {
        scenario()
            .setup("bundles")
            .fresh()
            .given(put_fixture("limits", bundle("limits", "l1")))
            .given(put_fixture("rules", rules(0, "answer = 1 { true }")))
            .when(answer(1))
            .given(put_fixture("rules", rules(0, "answer = 2 { true }")))
            .when(answer(2))
    }),
    // Affects 1.22.0.
    Rule::new("policies-beside-old-language", || {
        scenario()
            .setup("bundles")
            .fresh()
            .given(put_fixture("limits", bundle("limits", "l1")))
            .given(put_fixture("rules", rules(0, "answer = 1 { true }")))
            .given(
                get("/v1/data/rules/answer").until([Check::Equals("/result".to_owned(), json!(1))]),
            )
            .when(policy("decision := 2").expect(success()))
            .when(get("/v1/data/{ns}/decision").expect(at("/result")))
    }),
    // Affects 1.21.2 and before.
    Rule::new("unsigned-refused", || {
        scenario()
            .setup("signed-bundles")
            .fresh()
            .given(put_fixture("rules", bundle("rules", "r1")))
            .given(requests_answered("bundle", 1))
            // The second response shows that the first has been processed.
            .given(put_fixture("rules", bundle("rules", "r2")))
            .given(requests_answered("bundle", 2))
            .when(get("/v1/data/rules").expect(lacks("/result/answer")))
    }),
    // Affects 1.12.2.
    Rule::new("asked-again-after-discovery", || {
        let mut slower = rules_bundle();
        if let Some(delay) = slower.pointer_mut("/rules/polling/max_delay_seconds") {
            *delay = json!(2);
        }
        scenario()
            .setup("discovery")
            .fresh()
            .given(put_fixture("rules", rules(1, "answer := 3")))
            .given(put_discovery_bundle(json!({"bundles": rules_bundle()})))
            .when(answer(3))
            .given(put_discovery_bundle(
                json!({"bundles": slower, "labels": {"region": "west"}}),
            ))
            .given(get("/v1/config").until([Check::Equals(
                "/result/labels/region".to_owned(),
                json!("west"),
            )]))
            .given(put_fixture("rules", rules(1, "answer := 4")))
            .when(answer(4))
    }),
];

/// Number of modules of a bundle that takes a while to compile.
const MODULES: u32 = 120;

/// A bundle with this answer, and many modules that are valid in every version of the language.
fn large(answer: u32) -> Value {
    let rules: String = (0..20)
        .map(|rule| {
            format!(
                "names_{rule} := [name | entry := input.entries[_]; entry.size > {rule}; \
                 name := concat(\"-\", [entry.name, \"{{number}}\"])]\n"
            )
        })
        .collect();
    json!({"repeated": {
        "times": MODULES,
        "files": {
            ".manifest": {"revision": "large", "roots": ["rules"]},
            "rules/policy.rego": format!("package rules\n\nanswer := {answer}\n"),
            "rules/part_{number}.rego": format!("package rules.part_{{number}}\n\n{rules}"),
        },
    }})
}

/// Queries the bundle's answer.
fn decision(when: &str) -> Step {
    post("/v1/data/rules/answer").json(json!({"input": {"when": when}}))
}

/// A bundle with this rule, in version 0 or 1 of the language.
fn rules(version: u8, rule: &str) -> Value {
    json!({"bundle": {
        ".manifest": {"revision": rule, "roots": ["rules"], "rego_version": version},
        "rules/policy.rego": format!("package rules\n\n{rule}\n"),
    }})
}

/// Waits until the bundle's rule has this value.
fn answer(value: u32) -> Step {
    get("/v1/data/rules/answer")
        .until([Check::Equals("/result".to_owned(), json!(value))])
        .expect(at("/result"))
}
