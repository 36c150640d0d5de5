//! Name in the body

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-mismatch-refused", || mismatched(BUNDLE)),
    Rule::new("bundle-path-name-used", || unnamed(BUNDLE)),
    Rule::new("bundle-name-compared-decoded", || named_decoded(BUNDLE)),
    Rule::new("secret-mismatch-refused", || mismatched(SECRET)),
    Rule::new("secret-path-name-used", || unnamed(SECRET)),
    Rule::new("secret-name-compared-decoded", || named_decoded(SECRET)),
    Rule::new("source-mismatch", || mismatched(SOURCE)),
    Rule::new("stack-mismatch", || mismatched(STACK)),
];

fn mismatched(resource: Resource) -> Scenario {
    scenario().given(resource.create()).when(
        put(resource.item(""))
            .json(resource.with(json!({"name": "{ns}-other"})))
            .keep(status())
            .keep(at("/code")),
    )
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
