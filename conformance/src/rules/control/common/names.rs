//! Name in the body

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-mismatch-refused", || refused(BUNDLE)),
    Rule::new("bundle-path-name-used", || unnamed(BUNDLE)),
    Rule::new("bundle-name-compared-decoded", || named_decoded(BUNDLE)),
    Rule::new("secret-mismatch-refused", || refused(SECRET)),
    Rule::new("secret-path-name-used", || unnamed(SECRET)),
    Rule::new("secret-name-compared-decoded", || named_decoded(SECRET)),
    Rule::new("source-mismatch", || mismatched(SOURCE)),
    Rule::new("stack-mismatch", || mismatched(STACK)),
];

fn mismatched(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(misnamed(resource, "", resource.first))
}

/// What is refused changes nothing and makes nothing.
fn refused(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(misnamed(resource, "", resource.second))
        .when(get(resource.item("")).keep(at(resource.field)))
        .when(misnamed(resource, "-new", resource.first))
        .each(["-new", "-other"], |told, end| {
            told.when(get(resource.item(end)).keep(status()))
        })
}

/// A PUT of a definition that names another one.
fn misnamed(resource: Resource, end: &str, definition: fn() -> Value) -> Step {
    let mut definition = definition();
    if let Some(fields) = definition.as_object_mut() {
        fields.insert("name".to_owned(), json!("{ns}-other"));
    }
    put(resource.item(end))
        .json(definition)
        .keep(status())
        .keep(at("/code"))
}

fn unnamed(resource: Resource) -> Scenario {
    scenario()
        .when(resource.create().keep(success()))
        .when(get(resource.item("")).keep(at(resource.name)))
}

fn named_decoded(resource: Resource) -> Scenario {
    scenario()
        .when(
            put(resource.item("%2Feast"))
                .json(resource.with(json!({"name": "{ns}/east"})))
                .keep(success()),
        )
        .when(get(resource.item("%2Feast")).keep(at(resource.name)))
}
