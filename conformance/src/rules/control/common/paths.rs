//! Path parameters

use super::{
    BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document, document_of, no_document,
    with_source,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-encoded-space", || known_by_name(BUNDLE, "%20east")),
    Rule::new("bundle-encoded-slash", || known_by_name(BUNDLE, "%2Feast")),
    Rule::new("source-encoded-space", || known_by_name(SOURCE, "%20east")),
    Rule::new("source-encoded-slash", || known_by_name(SOURCE, "%2Feast")),
    Rule::new("stack-encoded-space", || known_by_name(STACK, "%20east")),
    Rule::new("stack-encoded-slash", || known_by_name(STACK, "%2Feast")),
    Rule::new("secret-encoded-space", || known_by_name(SECRET, "%20east")),
    Rule::new("secret-encoded-slash", || known_by_name(SECRET, "%2Feast")),
    Rule::new("name-encoded-percent", || {
        scenario().each(RESOURCES, |told, resource| {
            write_and_read(told, resource, "-%2541")
        })
    }),
    // A plus sign is a space in forms, but not in paths.
    Rule::new("data-encoded-space", || {
        let told = document_at("upper%20limits").when(no_document(document("upper+limits")));
        rewritten_and_deleted(told, "upper%20limits")
    }),
    // Whether a parent shows its children is unspecified, but it must not have the child's members.
    Rule::new("data-encoded-slash", || {
        let told = document_at("limits%2Fupper")
            .when(no_document(document("limits%2Flower")))
            .when(get(document("limits")).expect(lacks("/result/max")));
        rewritten_and_deleted(told, "limits%2Fupper")
    }),
    Rule::new("data-encoded-percent", || {
        scenario()
            .given(SOURCE.create())
            .when(
                put(document("limits-%2541"))
                    .json(json!({"max": 7}))
                    .expect(success()),
            )
            // The path that decoding twice would yield.
            .given(put(document("limits-A")).json(json!({"max": 8})))
            .when(get(document("limits-%2541")).expect(at("/result")))
    }),
    Rule::new("data-path-decoded", || {
        let spellings = [("%6Cimits", "limits"), ("rates", "%72ates")];
        with_source().each(spellings, |told, (written, read)| {
            told.when(
                put(document(written))
                    .json(json!({"max": 7}))
                    .expect(success()),
            )
            .when(get(document(read)).expect(at("/result")))
        })
    }),
    Rule::new("data-source-encoded-name", || {
        let sources = [
            ("%20east", json!({"max": 7})),
            ("%2Feast", json!({"max": 8})),
        ];
        with_source()
            .each(sources.clone(), |told, (end, content)| {
                let path = document_of(end, "limits");
                told.given(SOURCE.create_as(end))
                    .when(put(path).json(content).expect(success()))
            })
            .each(sources.clone(), |told, (end, _)| {
                told.when(get(document_of(end, "limits")).expect(at("/result")))
            })
            .when(no_document(document("limits")))
            .each(sources, |told, (end, _)| {
                told.when(delete(document_of(end, "limits")).expect(success()))
                    .when(no_document(document_of(end, "limits")))
            })
    }),
    Rule::new("data-raw-slash", || {
        let raw_slash = "a slash of the path is not encoded";
        scenario()
            .given(SOURCE.create())
            .when(
                put(document("limits/upper"))
                    .json(json!({"max": 7}))
                    .off_contract(raw_slash)
                    .expect(status()),
            )
            .when(
                get(document("limits/upper"))
                    .off_contract(raw_slash)
                    .expect(status())
                    .expect(at("/result")),
            )
            .when(
                get(document("limits%2Fupper"))
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
    Rule::new("name-of-dots", || {
        let names = ["/v1/bundles/..", "/v1/sources/.", "/v1/stacks/.."];
        scenario().each(names, |told, path| {
            told.when(
                get(path)
                    .off_contract("the dots of a name are not encoded")
                    .expect(status()),
            )
        })
    }),
];

/// Expects that a resource is read and deleted by the name under which it was written.
fn known_by_name(resource: Resource, end: &str) -> Scenario {
    write_and_read(scenario(), resource, end)
        .when(delete(resource.item(end)).expect(success()))
        .when(get(resource.item(end)).expect(error()))
}

fn write_and_read(told: Scenario, resource: Resource, end: &str) -> Scenario {
    told.when(resource.create_as(end).expect(success()))
        .when(get(resource.item(end)).expect(at(resource.name)))
}

fn document_at(path: &str) -> Scenario {
    scenario()
        .given(SOURCE.create())
        .when(
            put(document(path))
                .json(json!({"max": 7}))
                .expect(success()),
        )
        .when(get(document(path)).expect(at("/result")))
}

/// Replaces the document at the path by POST, and then deletes it.
fn rewritten_and_deleted(told: Scenario, path: &str) -> Scenario {
    told.when(
        post(document(path))
            .json(json!({"max": 8}))
            .expect(success()),
    )
    .when(get(document(path)).expect(at("/result")))
    .when(delete(document(path)).expect(success()))
    .when(no_document(document(path)))
}
