//! Authentication

use super::{
    BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document, keys_required, no_document,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bearer-key-accepted", || {
        scenario()
            .given(keys_required())
            .when(BUNDLE.create().expect(success()))
            .given(BUNDLE.matches(BUNDLE.first))
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
            .each(RESOURCES, |scenario, resource| {
                scenario
                    .given(resource.create())
                    .when(with_unknown_key(resource.first_page()).expect(status()))
                    .when(with_unknown_key(get(resource.item(""))).expect(status()))
            })
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(with_unknown_key(get(document("limits"))).expect(status()))
            .when(with_unknown_key(BUNDLE.change()).expect(status()))
            .when(get(BUNDLE.item("")).expect(at(BUNDLE.field)))
    }),
    Rule::new("nearly-valid-keys-refused", || {
        let keys = [
            "{token-in-other-case}",
            "{token-shortened}",
            "{token-changed}",
            "{token}x",
            "x{token}",
            "{token}{token}",
        ];
        scenario()
            .given(keys_required())
            .given(BUNDLE.create())
            .each(keys, |scenario, key| {
                let with_key = |step: Step| step.authorization(format!("Bearer {key}"));
                scenario
                    .when(with_key(BUNDLE.first_page()).expect(status()))
                    .when(with_key(BUNDLE.change()).expect(status()))
            })
            .when(get(BUNDLE.item("")).expect(at(BUNDLE.field)))
    }),
    Rule::new("other-schemes-refused", || {
        scenario().given(BUNDLE.create()).each(
            ["Basic {token}", "Token {token}", "{token}"],
            |scenario, value| {
                scenario.when(BUNDLE.first_page().authorization(value).expect(status()))
            },
        )
    }),
    Rule::new("health-needs-no-key", || {
        scenario()
            .given(keys_required())
            .when(get("/health").anonymous().expect(status()))
            .when(with_unknown_key(get("/health")).expect(status()))
            .when(get("/health").authorization("{ns}").expect(status()))
    }),
    Rule::new("unauthorized-is-plain-text", || {
        unauthorized(|step| step.expect(media_type()))
    }),
    Rule::new("unauthorized-text", || {
        unauthorized(|step| step.expect(text()))
    }),
    Rule::new("unauthorized-is-no-error-object", || {
        unauthorized(|step| step.expect(lacks("/code")).expect(lacks("/message")))
    }),
    Rule::new("no-permission-is-forbidden", || {
        scenario().each(RESOURCES, |scenario, resource| {
            let as_viewer = |step: Step| step.role("viewer").expect(status());
            scenario
                .given(resource.create())
                .when(as_viewer(resource.change()))
                .when(as_viewer(delete(resource.item(""))))
                .when(get(resource.item("")).expect(at(resource.field)))
                .when(as_viewer(resource.create_as("-new")))
                .when(get(resource.item("-new")).expect(status()))
        })
    }),
    Rule::new("no-permission-for-source-data", || {
        let scenario = scenario()
            .given(SOURCE.create())
            .given(put(document("limits")).json(json!({"max": 7})));
        let scenario = scenario.each(["PUT", "POST"], |scenario, method| {
            scenario.each(["limits", "new"], |scenario, path| {
                let changed = request(method, document(path)).json(json!({"max": 8}));
                scenario.when(changed.role("viewer").expect(status()))
            })
        });
        scenario
            .when(delete(document("limits")).role("viewer").expect(status()))
            .when(get(document("limits")).expect(at("/result")))
            .when(no_document(document("new")))
    }),
    Rule::new("no-permission-code", || {
        scenario()
            .given(BUNDLE.create())
            .when(BUNDLE.change().role("viewer").expect(at("/code")))
    }),
    Rule::new("forbidden-conditions", || {
        scenario().each(RESOURCES, |scenario, resource| {
            scenario
                .given(resource.create())
                .when(resource.first_page().role("viewer").expect(status()))
                .when(get(resource.item("")).role("viewer").expect(status()))
                .when(resource.change().role("viewer").expect(status()))
                .when(resource.create_as("-new").role("viewer").expect(status()))
                .when(delete(resource.item("")).role("viewer").expect(status()))
        })
    }),
];

fn with_unknown_key(step: Step) -> Step {
    step.authorization("Bearer {ns}-never-issued")
}

/// Sends the request without a key and with one that was never issued.
fn refused(scenario: Scenario, step: Step) -> Scenario {
    scenario
        .when(step.clone().anonymous().expect(status()))
        .when(with_unknown_key(step).expect(status()))
}

/// Creates a resource with a key, and sends the request without a valid one.
fn keyless(resource: Resource, step: Step) -> Scenario {
    refused(scenario().given(resource.create()), step)
}

fn keyless_list(resource: Resource) -> Scenario {
    keyless(resource, get(resource.list))
}

fn keyless_get(resource: Resource) -> Scenario {
    keyless(resource, get(resource.item("")))
}

/// Expects that a rejected DELETE has no effect.
fn keyless_delete(resource: Resource) -> Scenario {
    keyless(resource, delete(resource.item(""))).when(get(resource.item("")).expect(status()))
}

/// Expects that rejected requests neither change nor create a resource. Reads of a secret show only
/// whether it exists, not a change.
fn keyless_change(resource: Resource) -> Scenario {
    let scenario = keyless(resource, resource.change())
        .when(get(resource.item("")).expect(at(resource.field)));
    refused(scenario, resource.create_as("-new")).when(get(resource.item("-new")).expect(status()))
}

fn keyless_document(step: Step) -> Scenario {
    let scenario = scenario()
        .given(SOURCE.create())
        .given(put(document("limits")).json(json!({"max": 7})));
    refused(scenario, step)
}

/// Expects that a rejected change of a document has no effect.
fn keyless_document_change(step: Step) -> Scenario {
    keyless_document(step).when(get(document("limits")).expect(at("/result")))
}

/// Judges the responses to a missing and to an invalid key.
fn unauthorized(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(BUNDLE.first_page().anonymous().expect(status())))
        .when(judge(
            with_unknown_key(BUNDLE.first_page()).expect(status()),
        ))
}
