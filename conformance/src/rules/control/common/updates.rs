//! Create and update by PUT

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-put-creates", || creates(BUNDLE)),
    Rule::new("bundle-put-updates", || {
        replaces(BUNDLE, json!({"labels": {"colour": "red"}}))
    }),
    Rule::new("source-put-creates", || creates(SOURCE)),
    Rule::new("source-put-updates", || updates(SOURCE)),
    Rule::new("stack-put-creates", || creates(STACK)),
    Rule::new("stack-put-updates", || {
        replaces(STACK, json!({"selector": {"floor": ["upper"]}}))
    }),
    Rule::new("secret-put-creates", || creates(SECRET)),
    Rule::new("secret-put-updates", || updates(SECRET)),
    // Whether a bundle may have no fields is unspecified. If it is accepted, it must exist.
    Rule::new("bundle-without-fields", || {
        scenario()
            .given(
                put(BUNDLE.item(""))
                    .json(json!({}))
                    .or_not_run("it needs a server that takes a bundle without fields"),
            )
            .when(get(BUNDLE.item("")).expect(at(BUNDLE.name)))
    }),
    Rule::new("omitted-field", || {
        scenario()
            .given(BUNDLE.define("", json!({"excluded_files": ["*_test.rego"]})))
            .given(put(BUNDLE.item("")).json(without_excluded_files()))
            .when(get(BUNDLE.item("")).expect(at("/result/excluded_files")))
    }),
];

fn creates(resource: Resource) -> Scenario {
    scenario()
        .when(resource.create().expect(success()))
        .when(get(resource.item("")).expect(at(resource.field)))
}

fn updates(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(resource.change().expect(success()))
        .when(get(resource.item("")).expect(at(resource.field)))
        .when(walk(resource.list).expect(names("/result")))
}

/// [`updates`], and then a replacement of an object with one key by one with another key.
fn replaces(resource: Resource, third: Value) -> Scenario {
    updates(resource)
        .when(resource.define("", third).expect(success()))
        .when(get(resource.item("")).expect(at(resource.field)))
}

/// The second definition of a bundle, which omits a field.
fn without_excluded_files() -> Value {
    let mut definition = definitions::bundle("", (BUNDLE.second)());
    if let Some(fields) = definition.as_object_mut() {
        fields.remove("excluded_files");
    }
    definition
}
