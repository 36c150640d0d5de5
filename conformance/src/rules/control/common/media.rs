//! Media types and JSON bodies

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document, keys_required};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("json-request-accepted", || {
        scenario()
            .each(RESOURCES, |scenario, resource| {
                scenario
                    .when(resource.create().expect(success()))
                    .given(resource.matches(resource.first))
            })
            .each(["PUT", "POST"], |scenario, method| {
                scenario.when(
                    request(method, document("limits"))
                        .json(json!({"max": 7}))
                        .expect(success()),
                )
            })
    }),
    Rule::new("bundles-answer-json", || answers_json(BUNDLE)),
    Rule::new("sources-answer-json", || answers_json(SOURCE)),
    Rule::new("stacks-answer-json", || answers_json(STACK)),
    Rule::new("secrets-answer-json", || answers_json(SECRET)),
    Rule::new("source-data-answers-json", || {
        scenario()
            .given(SOURCE.create())
            .each(["PUT", "POST"], |scenario, method| {
                scenario.when(is_json(
                    request(method, document("limits")).json(json!({"max": 7})),
                ))
            })
            .when(is_json(get(document("limits"))))
            .given(
                get(document("limits"))
                    .shows([Check::Equals("/result".to_owned(), json!({"max": 7}))]),
            )
            .when(is_json(delete(document("limits"))))
    }),
    Rule::new("health-answers-json", || {
        scenario()
            .given(keys_required())
            .when(is_json(get("/health").anonymous()))
    }),
    Rule::new("invalid-json-bundle-put", || malformed_put(BUNDLE)),
    Rule::new("invalid-json-source-put", || malformed_put(SOURCE)),
    Rule::new("invalid-json-stack-put", || malformed_put(STACK)),
    Rule::new("invalid-json-secret-put", || malformed_put(SECRET)),
    Rule::new("invalid-json-source-data-put", || malformed_document("PUT")),
    Rule::new("invalid-json-source-data-post", || {
        malformed_document("POST")
    }),
    Rule::new("other-request-type", || {
        scenario().when(
            put(BUNDLE.item(""))
                .text("text/plain", BUNDLE.definition("", json!({})).to_string())
                .off_contract("the Content-Type of a JSON body is text")
                .expect(status()),
        )
    }),
];

fn answers_json(resource: Resource) -> Scenario {
    scenario()
        .when(is_json(resource.create()))
        .when(is_json(resource.first_page()))
        .when(is_json(get(resource.item(""))))
        .when(is_json(delete(resource.item(""))))
}

fn is_json(step: Step) -> Step {
    step.expect(success()).expect(media_type())
}

/// Expects that a rejected request neither changes nor creates anything.
fn malformed_put(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(malformed_json("PUT", resource.item("")))
        .when(get(resource.item("")).expect(at(resource.field)))
        .when(malformed_json("PUT", resource.item("-new")))
        .when(get(resource.item("-new")).expect(status()))
}

fn malformed_document(method: &'static str) -> Scenario {
    scenario()
        .given(SOURCE.create())
        .given(put(document("limits")).json(json!({"max": 7})))
        .when(malformed_json(method, document("limits")))
        .when(get(document("limits")).expect(at("/result")))
}

fn malformed_json(method: &'static str, path: String) -> Step {
    request(method, path)
        .text("application/json", r#"{"max": "#)
        .off_contract("the body ends in the middle of an object")
        .expect(status())
}
