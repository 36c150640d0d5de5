//! Authentication

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bearer-key-accepted", || {
        scenario().when(BUNDLE.create().keep(success()))
    }),
    Rule::new("bundles-list-needs-key", || keyless_list(BUNDLE)),
    Rule::new("bundles-get-needs-key", || keyless_item("GET", BUNDLE)),
    Rule::new("bundles-put-needs-key", || keyless_change(BUNDLE)),
    Rule::new("bundles-delete-needs-key", || {
        keyless_item("DELETE", BUNDLE)
    }),
    Rule::new("sources-list-needs-key", || keyless_list(SOURCE)),
    Rule::new("sources-get-needs-key", || keyless_item("GET", SOURCE)),
    Rule::new("sources-put-needs-key", || keyless_change(SOURCE)),
    Rule::new("sources-delete-needs-key", || {
        keyless_item("DELETE", SOURCE)
    }),
    Rule::new("stacks-list-needs-key", || keyless_list(STACK)),
    Rule::new("stacks-get-needs-key", || keyless_item("GET", STACK)),
    Rule::new("stacks-put-needs-key", || keyless_change(STACK)),
    Rule::new("stacks-delete-needs-key", || keyless_item("DELETE", STACK)),
    Rule::new("secrets-list-needs-key", || keyless_list(SECRET)),
    Rule::new("secrets-get-needs-key", || keyless_item("GET", SECRET)),
    Rule::new("secrets-put-needs-key", || keyless_change(SECRET)),
    Rule::new("secrets-delete-needs-key", || {
        keyless_item("DELETE", SECRET)
    }),
    Rule::new("source-data-get-needs-key", || {
        keyless_document(get(document("limits")))
    }),
    Rule::new("source-data-post-needs-key", || {
        keyless_document(post(document("limits")).json(json!({"max": 8})))
    }),
    Rule::new("source-data-put-needs-key", || {
        keyless_document(put(document("limits")).json(json!({"max": 8})))
    }),
    Rule::new("source-data-delete-needs-key", || {
        keyless_document(delete(document("limits")))
    }),
    Rule::new("unknown-key-refused", || {
        scenario()
            .given(BUNDLE.create())
            .when(unknown_key().keep(status()))
    }),
    Rule::new("other-schemes-refused", || {
        scenario().given(BUNDLE.create()).each(
            ["Basic {token}", "Token {token}", "{token}"],
            |told, value| told.when(BUNDLE.first_page().authorization(value).keep(status())),
        )
    }),
    Rule::new("health-needs-no-key", || {
        scenario().when(get("/health").anonymous().keep(status()))
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

fn unknown_key() -> Step {
    BUNDLE
        .first_page()
        .authorization("Bearer {ns}-never-issued")
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

fn keyless_item(method: &'static str, resource: Resource) -> Scenario {
    keyless(resource, request(method, resource.item("")))
}

fn keyless_change(resource: Resource) -> Scenario {
    keyless(resource, resource.change())
}

fn keyless_document(step: Step) -> Scenario {
    scenario()
        .given(SOURCE.create())
        .given(put(document("limits")).json(json!({"max": 7})))
        .when(step.anonymous().keep(status()))
}

/// What the document says of a missing and of an invalid key alike.
fn unauthorized(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(BUNDLE.first_page().anonymous().keep(status())))
        .when(judge(unknown_key().keep(status())))
}

/// A change asked for with a key that may only read.
fn without_permission(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(BUNDLE.change().role("viewer")))
}
