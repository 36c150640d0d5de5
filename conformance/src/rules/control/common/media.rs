//! Media types and JSON bodies

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document, keys_are_asked_for};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("json-request-accepted", || {
        scenario()
            .each(RESOURCES, |told, resource| {
                told.when(resource.create().expect(success()))
                    .given(resource.is(resource.first))
            })
            .each(["PUT", "POST"], |told, method| {
                told.when(
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
            .each(["PUT", "POST"], |told, method| {
                told.when(is_json(
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
            .given(keys_are_asked_for())
            .when(is_json(get("/health").anonymous()))
    }),
    Rule::new("invalid-json-bundle-put", || broken_put(BUNDLE)),
    Rule::new("invalid-json-source-put", || broken_put(SOURCE)),
    Rule::new("invalid-json-stack-put", || broken_put(STACK)),
    Rule::new("invalid-json-secret-put", || broken_put(SECRET)),
    Rule::new("invalid-json-source-data-put", || broken_document("PUT")),
    Rule::new("invalid-json-source-data-post", || broken_document("POST")),
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
fn broken_put(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(broken_json("PUT", resource.item("")))
        .when(get(resource.item("")).expect(at(resource.field)))
        .when(broken_json("PUT", resource.item("-new")))
        .when(get(resource.item("-new")).expect(status()))
}

fn broken_document(method: &'static str) -> Scenario {
    scenario()
        .given(SOURCE.create())
        .given(put(document("limits")).json(json!({"max": 7})))
        .when(broken_json(method, document("limits")))
        .when(get(document("limits")).expect(at("/result")))
}

fn broken_json(method: &'static str, path: String) -> Step {
    request(method, path)
        .text("application/json", r#"{"max": "#)
        .off_contract("the body ends in the middle of an object")
        .expect(status())
}
