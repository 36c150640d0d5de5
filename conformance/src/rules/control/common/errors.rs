//! Errors

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK, document};
use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("code-is-string", || {
        every_error(|step| step.expect(kind("/code", Kind::String)))
    }),
    Rule::new("message-is-string", || {
        every_error(|step| step.expect(kind("/message", Kind::String)))
    }),
    Rule::new("invalid-parameter", || {
        scenario()
            .given(BUNDLE.create())
            .when(status_and_code(misnamed_bundle()))
            .when(get(BUNDLE.item("")).expect(at(BUNDLE.field)))
    }),
    Rule::new("unauthorized-has-no-code", || {
        scenario()
            .given(BUNDLE.create())
            .when(get(BUNDLE.list).anonymous().expect(status()).expect(text()))
    }),
    Rule::new("not-authorized", || {
        scenario()
            .given(BUNDLE.create())
            .when(
                status_and_code(delete(BUNDLE.item("")).role("viewer"))
                    .expect(kind("/message", Kind::String)),
            )
            .when(get(BUNDLE.item("")).expect(status()))
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
            .when(status_and_code(get(document_of_absent_source())))
    }),
    Rule::new("absent-source-data-delete", || {
        scenario()
            .given(SOURCE.create())
            .given(put(document("limits")).json(json!({"max": 7})))
            .when(status_and_code(delete(document_of_absent_source())))
            .when(get(document("limits")).expect(at("/result")))
    }),
    Rule::new("absent-source-data-write", || {
        scenario().each(["PUT", "POST"], |scenario, method| {
            scenario.when(status_and_code(
                request(method, document_of_absent_source()).json(json!({"max": 7})),
            ))
        })
    }),
    Rule::new("absent-document-get", || {
        scenario()
            .given(SOURCE.create())
            .when(status_and_code(get(document("limits"))))
            .given(put(document("rates")).json(json!({"max": 7})))
            .given(delete(document("rates")))
            .when(status_and_code(get(document("rates"))))
    }),
    Rule::new("absent-document-delete", || {
        scenario()
            .given(SOURCE.create())
            .given(put(document("rates")).json(json!({"max": 7})))
            .when(status_and_code(delete(document("limits"))))
            .when(get(document("rates")).expect(at("/result")))
    }),
    Rule::new("unknown-path", || {
        let reason = "the document does not list the path";
        scenario()
            .when(get("/v1/{ns}").off_contract(reason).expect(status()))
            .when(
                get("/v1/{ns}")
                    .anonymous()
                    .off_contract(reason)
                    .expect(status()),
            )
    }),
    Rule::new("other-method", || {
        let reason = "the document does not list the method";
        scenario()
            .when(
                request("OPTIONS", BUNDLE.list)
                    .off_contract(reason)
                    .expect(status()),
            )
            .when(
                post(BUNDLE.item(""))
                    .json(BUNDLE.definition("", json!({})))
                    .off_contract(reason)
                    .expect(status()),
            )
    }),
];

/// Expects the status and code of a request for an absent resource, while another one exists.
fn absent(resource: Resource, step: Step) -> Scenario {
    scenario()
        .given(resource.create())
        .when(status_and_code(step))
}

fn absent_get(resource: Resource) -> Scenario {
    absent(resource, get(resource.item("-absent")))
}

/// Deletes an absent resource, and expects that the existing one remains.
fn absent_delete(resource: Resource) -> Scenario {
    absent(resource, delete(resource.item("-absent"))).when(get(resource.item("")).expect(status()))
}

/// The path of a document in a source that does not exist.
fn document_of_absent_source() -> String {
    format!("{}/data/limits", SOURCE.item("-absent"))
}

fn status_and_code(step: Step) -> Step {
    step.expect(status()).expect(at("/code"))
}

fn misnamed_bundle() -> Step {
    let fields = definitions::with((BUNDLE.second)(), json!({"name": "{ns}-other"}));
    BUNDLE.define("", fields)
}

/// Judges the errors that every target can be made to return.
fn every_error(judge: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(BUNDLE.create())
        .when(judge(misnamed_bundle()))
        .when(judge(get(BUNDLE.item("-absent"))))
}
