//! Path parameters

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document};
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
    Rule::new("data-encoded-space", || document_at("upper%20limits")),
    Rule::new("data-encoded-slash", || document_at("limits%2Fupper")),
    Rule::new("data-encoded-percent", || {
        scenario()
            .given(SOURCE.create())
            .when(
                put(document("limits-%2541"))
                    .json(json!({"max": 7}))
                    .keep(success()),
            )
            // The path that decoding twice would yield.
            .given(put(document("limits-A")).json(json!({"max": 8})))
            .when(get(document("limits-%2541")).keep(at("/result")))
    }),
    Rule::new("data-raw-slash", || {
        let raw_slash = "leaves a slash of the path unencoded";
        scenario()
            .given(SOURCE.create())
            .when(
                put(document("limits/upper"))
                    .json(json!({"max": 7}))
                    .off_contract(raw_slash)
                    .keep(status()),
            )
            .when(
                get(document("limits/upper"))
                    .off_contract(raw_slash)
                    .keep(status())
                    .keep(at("/result")),
            )
            .when(
                get(document("limits%2Fupper"))
                    .keep(status())
                    .keep(at("/result")),
            )
    }),
];

fn known_by_name(resource: Resource, end: &str) -> Scenario {
    write_and_read(scenario(), resource, end)
}

fn write_and_read(told: Scenario, resource: Resource, end: &str) -> Scenario {
    told.when(resource.create_as(end).keep(success()))
        .when(get(resource.item(end)).keep(at(resource.name)))
}

fn document_at(path: &str) -> Scenario {
    scenario()
        .given(SOURCE.create())
        .when(put(document(path)).json(json!({"max": 7})).keep(success()))
        .when(get(document(path)).keep(at("/result")))
}
