//! Errors

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK, document};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("code-is-string", || {
        every_error(|step| step.keep(kind("/code", Kind::String)))
    }),
    Rule::new("message-is-string", || {
        every_error(|step| step.keep(kind("/message", Kind::String)))
    }),
    Rule::new("invalid-parameter", || {
        scenario()
            .given(BUNDLE.create())
            .when(status_and_code(misnamed_bundle()))
            .when(get(BUNDLE.item("")).keep(at(BUNDLE.field)))
    }),
    Rule::new("unauthorized-has-no-code", || {
        scenario()
            .given(BUNDLE.create())
            .when(get(BUNDLE.list).anonymous().keep(status()).keep(text()))
    }),
    Rule::new("not-authorized", || {
        scenario()
            .given(BUNDLE.create())
            .when(
                status_and_code(delete(BUNDLE.item("")).role("viewer"))
                    .keep(kind("/message", Kind::String)),
            )
            .when(get(BUNDLE.item("")).keep(status()))
    }),
    Rule::new("absent-bundle-get", || absent_get(BUNDLE)),
    Rule::new("absent-bundle-delete", || absent_delete(BUNDLE)),
    Rule::new("absent-source-get", || absent_get(SOURCE)),
    Rule::new("absent-source-delete", || absent_delete(SOURCE)),
    Rule::new("absent-stack-get", || absent_get(STACK)),
    Rule::new("absent-stack-delete", || absent_delete(STACK)),
    Rule::new("absent-secret-get", || absent_get(SECRET)),
    Rule::new("absent-secret-delete", || absent_delete(SECRET)),
    Rule::new("absent-source-data-get", || {
        scenario()
            .given(SOURCE.create())
            .when(status_and_code(get(lost_document())))
    }),
    Rule::new("absent-source-data-delete", || {
        scenario()
            .given(SOURCE.create())
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(status_and_code(delete(lost_document())))
            .when(get(document("limits")).keep(at("/result")))
    }),
    Rule::new("absent-source-data-write", || {
        scenario().each(["PUT", "POST"], |told, method| {
            told.when(status_and_code(
                request(method, lost_document()).json(json!({"max": 7})),
            ))
        })
    }),
    Rule::new("absent-document-get", || {
        scenario()
            .given(SOURCE.create())
            .when(status_and_code(get(document("limits"))).keep(at("/result")))
    }),
    Rule::new("absent-document-delete", || {
        scenario()
            .given(SOURCE.create())
            .when(status_and_code(delete(document("limits"))))
    }),
    Rule::new("unknown-path", || {
        let unlisted = "the document does not list the path";
        scenario()
            .when(get("/v1/{ns}").off_contract(unlisted).keep(status()))
            .when(
                get("/v1/{ns}")
                    .anonymous()
                    .off_contract(unlisted)
                    .keep(status()),
            )
    }),
    Rule::new("other-method", || {
        let unlisted = "the document does not list the method";
        scenario()
            .when(
                request("OPTIONS", BUNDLE.list)
                    .off_contract(unlisted)
                    .keep(status()),
            )
            .when(
                post(BUNDLE.item(""))
                    .json((BUNDLE.first)())
                    .off_contract(unlisted)
                    .keep(status()),
            )
    }),
];

/// A request for something absent, beside something that is there.
fn absent(resource: Resource, step: Step) -> Scenario {
    scenario()
        .given(resource.create())
        .when(status_and_code(step))
}

fn absent_get(resource: Resource) -> Scenario {
    absent(resource, get(resource.item("-absent")))
}

/// What is there stays.
fn absent_delete(resource: Resource) -> Scenario {
    absent(resource, delete(resource.item("-absent"))).when(get(resource.item("")).keep(status()))
}

/// The path of a document in a source that does not exist.
fn lost_document() -> String {
    format!("{}/data/limits", SOURCE.item("-absent"))
}

fn status_and_code(step: Step) -> Step {
    step.keep(status()).keep(at("/code"))
}

fn misnamed_bundle() -> Step {
    put(BUNDLE.item("")).json(json!({"name": "{ns}-other"}))
}

/// The errors that any target can be brought to answer with.
fn every_error(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(misnamed_bundle()))
        .when(judge(get(BUNDLE.item("-absent"))))
}
