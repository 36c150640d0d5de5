//! Successful calls

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-create-empty-object", || created(BUNDLE)),
    Rule::new("bundle-update-empty-object", || updated(BUNDLE)),
    Rule::new("bundle-delete-empty-object", || deleted(BUNDLE)),
    Rule::new("source-create-empty-object", || created(SOURCE)),
    Rule::new("source-update-empty-object", || updated(SOURCE)),
    Rule::new("source-delete-empty-object", || deleted(SOURCE)),
    Rule::new("stack-create-empty-object", || created(STACK)),
    Rule::new("stack-update-empty-object", || updated(STACK)),
    Rule::new("stack-delete-empty-object", || deleted(STACK)),
    Rule::new("secret-create-empty-object", || created(SECRET)),
    Rule::new("secret-update-empty-object", || updated(SECRET)),
    Rule::new("secret-delete-empty-object", || deleted(SECRET)),
    Rule::new("source-data-put-empty-object", || document_written("PUT")),
    Rule::new("source-data-post-empty-object", || document_written("POST")),
    Rule::new("source-data-delete-empty-object", || {
        scenario()
            .given(SOURCE.create())
            .given(put(document("limits")).json(json!({"max": 7})))
            .given(holds_document(json!({"max": 7})))
            .when(empty_object(delete(document("limits"))))
    }),
    Rule::new("every-success-is-200", || {
        scenario()
            .each(RESOURCES, |scenario, resource| {
                scenario
                    .when(resource.create().expect(status()))
                    .when(resource.first_page().expect(status()))
                    .when(get(resource.item("")).expect(status()))
            })
            .each(["PUT", "POST"], |scenario, method| {
                scenario.when(
                    request(method, document("limits"))
                        .json(json!({"max": 7}))
                        .expect(status()),
                )
            })
            .when(get(document("limits")).expect(status()))
            .when(delete(document("limits")).expect(status()))
            .each(RESOURCES, |scenario, resource| {
                scenario.when(delete(resource.item("")).expect(status()))
            })
            .when(get("/health").anonymous().expect(status()))
    }),
];

fn created(resource: Resource) -> Scenario {
    scenario()
        .when(empty_object(resource.create()))
        .given(resource.matches(resource.first))
}

fn updated(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(empty_object(resource.change()))
        .given(resource.matches(resource.second))
}

fn deleted(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(empty_object(delete(resource.item(""))))
        .given(resource.is_absent())
}

fn document_written(method: &'static str) -> Scenario {
    scenario().given(SOURCE.create()).each(
        [json!({"max": 7}), json!({"max": 8})],
        |scenario, content| {
            scenario
                .when(empty_object(
                    request(method, document("limits")).json(content.clone()),
                ))
                .given(holds_document(content))
        },
    )
}

fn holds_document(content: Value) -> Step {
    get(document("limits")).shows([Check::Equals("/result".to_owned(), content)])
}

fn empty_object(step: Step) -> Step {
    step.expect(status()).expect(body())
}
