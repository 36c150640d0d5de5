//! Authentication

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document, keys_are_asked_for};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bearer-key-accepted", || {
        scenario()
            .given(keys_are_asked_for())
            .when(BUNDLE.create().keep(success()))
            .given(BUNDLE.is(BUNDLE.first))
    }),
    Rule::new("bundles-list-needs-key", || keyless_list(BUNDLE)),
    Rule::new("bundles-get-needs-key", || keyless_get(BUNDLE)),
    Rule::new("bundles-put-needs-key", || keyless_change(BUNDLE)),
    Rule::new("bundles-delete-needs-key", || keyless_delete(BUNDLE)),
    Rule::new("sources-list-needs-key", || keyless_list(SOURCE)),
    Rule::new("sources-get-needs-key", || keyless_get(SOURCE)),
    Rule::new("sources-put-needs-key", || keyless_change(SOURCE)),
    Rule::new("sources-delete-needs-key", || keyless_delete(SOURCE)),
    Rule::new("stacks-list-needs-key", || keyless_list(STACK)),
    Rule::new("stacks-get-needs-key", || keyless_get(STACK)),
    Rule::new("stacks-put-needs-key", || keyless_change(STACK)),
    Rule::new("stacks-delete-needs-key", || keyless_delete(STACK)),
    Rule::new("secrets-list-needs-key", || keyless_list(SECRET)),
    Rule::new("secrets-get-needs-key", || keyless_get(SECRET)),
    Rule::new("secrets-put-needs-key", || keyless_change(SECRET)),
    Rule::new("secrets-delete-needs-key", || keyless_delete(SECRET)),
    Rule::new("source-data-get-needs-key", || {
        keyless_document(get(document("limits")))
    }),
    Rule::new("source-data-post-needs-key", || {
        keyless_document_change(post(document("limits")).json(json!({"max": 8})))
    }),
    Rule::new("source-data-put-needs-key", || {
        keyless_document_change(put(document("limits")).json(json!({"max": 8})))
    }),
    Rule::new("source-data-delete-needs-key", || {
        keyless_document_change(delete(document("limits")))
    }),
    Rule::new("unknown-key-refused", || {
        scenario()
            .each(RESOURCES, |told, resource| {
                told.given(resource.create())
                    .when(with_unknown_key(resource.first_page()).keep(status()))
                    .when(with_unknown_key(get(resource.item(""))).keep(status()))
            })
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(with_unknown_key(get(document("limits"))).keep(status()))
            .when(with_unknown_key(BUNDLE.change()).keep(status()))
            .when(get(BUNDLE.item("")).keep(at(BUNDLE.field)))
    }),
    Rule::new("other-schemes-refused", || {
        scenario().given(BUNDLE.create()).each(
            ["Basic {token}", "Token {token}", "{token}"],
            |told, value| told.when(BUNDLE.first_page().authorization(value).keep(status())),
        )
    }),
    Rule::new("health-needs-no-key", || {
        scenario()
            .given(keys_are_asked_for())
            .when(get("/health").anonymous().keep(status()))
    }),
    Rule::new("unauthorized-is-plain-text", || {
        unauthorized(|step| step.keep(media_type()))
    }),
    Rule::new("unauthorized-text", || {
        unauthorized(|step| step.keep(text()))
    }),
    Rule::new("unauthorized-is-no-error-object", || {
        unauthorized(|step| step.keep(lacks("/code")).keep(lacks("/message")))
    }),
    Rule::new("no-permission-is-forbidden", || {
        without_permission(|step| step.keep(status()))
            .when(get(BUNDLE.item("")).keep(at(BUNDLE.field)))
    }),
    Rule::new("no-permission-code", || {
        without_permission(|step| step.keep(at("/code")))
    }),
    Rule::new("forbidden-conditions", || {
        scenario().each(RESOURCES, |told, resource| {
            told.given(resource.create())
                .when(resource.first_page().role("viewer").keep(status()))
                .when(get(resource.item("")).role("viewer").keep(status()))
                .when(resource.change().role("viewer").keep(status()))
                .when(
                    put(resource.item("-new"))
                        .json((resource.first)())
                        .role("viewer")
                        .keep(status()),
                )
                .when(delete(resource.item("")).role("viewer").keep(status()))
        })
    }),
];

fn with_unknown_key(step: Step) -> Step {
    step.authorization("Bearer {ns}-never-issued")
}

/// A request without a key for what a key has just made.
fn keyless(resource: Resource, step: Step) -> Scenario {
    scenario()
        .given(resource.create())
        .when(step.anonymous().keep(status()))
}

fn keyless_list(resource: Resource) -> Scenario {
    keyless(resource, get(resource.list))
}

fn keyless_get(resource: Resource) -> Scenario {
    keyless(resource, get(resource.item("")))
}

/// What is refused is not done either.
fn keyless_delete(resource: Resource) -> Scenario {
    keyless(resource, delete(resource.item(""))).when(get(resource.item("")).keep(status()))
}

/// Of a secret reads show no change, but whether there is one.
fn keyless_change(resource: Resource) -> Scenario {
    keyless(resource, resource.change())
        .when(get(resource.item("")).keep(at(resource.field)))
        .when(resource.create_as("-new").anonymous().keep(status()))
        .when(get(resource.item("-new")).keep(status()))
}

fn keyless_document(step: Step) -> Scenario {
    scenario()
        .given(SOURCE.create())
        .given(put(document("limits")).json(json!({"max": 7})))
        .when(step.anonymous().keep(status()))
}

/// What is refused is not done either.
fn keyless_document_change(step: Step) -> Scenario {
    keyless_document(step).when(get(document("limits")).keep(at("/result")))
}

/// What the document says of a missing and of an invalid key alike.
fn unauthorized(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(BUNDLE.first_page().anonymous().keep(status())))
        .when(judge(with_unknown_key(BUNDLE.first_page()).keep(status())))
}

/// A change asked for with a key that may only read.
fn without_permission(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(BUNDLE.change().role("viewer")))
}
