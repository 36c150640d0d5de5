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
        scenario().each(RESOURCES, |scenario, resource| {
            write_and_read(scenario, resource, "-%2541")
        })
    }),
    // A plus sign is a space in forms, but not in paths.
    Rule::new("data-encoded-space", || {
        let scenario = document_at("upper%20limits").when(no_document(document("upper+limits")));
        rewritten_and_deleted(scenario, "upper%20limits")
    }),
    // Whether a parent shows its children is unspecified, but it must not have the child's members.
    Rule::new("data-encoded-slash", || {
        let scenario = document_at("limits%2Fupper")
            .when(no_document(document("limits%2Flower")))
            .when(get(document("limits")).expect(lacks("/result/max")));
        rewritten_and_deleted(scenario, "limits%2Fupper")
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
        with_source().each(spellings, |scenario, (written, read)| {
            scenario
                .when(
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
            .each(sources.clone(), |scenario, (suffix, content)| {
                let path = document_of(suffix, "limits");
                scenario
                    .given(SOURCE.create_as(suffix))
                    .when(put(path).json(content).expect(success()))
            })
            .each(sources.clone(), |scenario, (suffix, _)| {
                scenario.when(get(document_of(suffix, "limits")).expect(at("/result")))
            })
            .when(no_document(document("limits")))
            .each(sources, |scenario, (suffix, _)| {
                scenario
                    .when(delete(document_of(suffix, "limits")).expect(success()))
                    .when(no_document(document_of(suffix, "limits")))
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
        scenario().each(names, |scenario, path| {
            scenario.when(
                get(path)
                    .off_contract("the dots of a name are not encoded")
                    .expect(status()),
            )
        })
    }),
];

/// Expects that a resource is read and deleted by the name under which it was written.
fn known_by_name(resource: Resource, suffix: &str) -> Scenario {
    write_and_read(scenario(), resource, suffix)
        .when(delete(resource.item(suffix)).expect(success()))
        .when(get(resource.item(suffix)).expect(error()))
}

fn write_and_read(scenario: Scenario, resource: Resource, suffix: &str) -> Scenario {
    scenario
        .when(resource.create_as(suffix).expect(success()))
        .when(get(resource.item(suffix)).expect(at(resource.name)))
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
fn rewritten_and_deleted(scenario: Scenario, path: &str) -> Scenario {
    scenario
        .when(
            post(document(path))
                .json(json!({"max": 8}))
                .expect(success()),
        )
        .when(get(document(path)).expect(at("/result")))
        .when(delete(document(path)).expect(success()))
        .when(no_document(document(path)))
}
