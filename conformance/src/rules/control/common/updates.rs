//! Create and update by PUT

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-put-creates", || creates(BUNDLE)),
    Rule::new("bundle-put-updates", || updates(BUNDLE)),
    Rule::new("source-put-creates", || creates(SOURCE)),
    Rule::new("source-put-updates", || updates(SOURCE)),
    Rule::new("stack-put-creates", || creates(STACK)),
    Rule::new("stack-put-updates", || updates(STACK)),
    Rule::new("secret-put-creates", || creates(SECRET)),
    Rule::new("secret-put-updates", || updates(SECRET)),
    Rule::new("omitted-field", || {
        scenario()
            .given(put(BUNDLE.item("")).json(json!({
                "labels": {"team": "blue"},
                "excluded_files": ["*_test.rego"],
            })))
            .given(BUNDLE.change())
            .when(get(BUNDLE.item("")).keep(at("/result/excluded_files")))
    }),
];

fn creates(resource: Resource) -> Scenario {
    scenario()
        .when(resource.create().keep(success()))
        .when(get(resource.item("")).keep(at(resource.field)))
}

fn updates(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(resource.change().keep(success()))
        .when(get(resource.item("")).keep(at(resource.field)))
}
