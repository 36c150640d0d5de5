//! Name in the body

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK, document};
use crate::rules::control::definitions;
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
    // Letters of many scripts and large numbers, which a server might fold, truncate or round.
    Rule::new("given-back-as-written", || {
        // Characters with a meaning in a query or a form, but not in a name.
        let suffixes = [
            "-Gr%C3%B6%C3%9Fe-%E6%97%A5%E6%9C%AC",
            "-a%26b%2Bc%3Dd%3Fe%23f",
            "-a+b",
        ];
        let content = json!({
            "Größe": "日本 é Ü",
            "größe": 9_007_199_254_740_993_u64,
            "least": -9_007_199_254_740_993_i64,
        });
        scenario()
            .each(RESOURCES, |scenario, resource| {
                scenario.each(suffixes, |scenario, suffix| {
                    scenario
                        .when(resource.create_as(suffix).expect(success()))
                        .when(get(resource.item(suffix)).expect(at(resource.name)))
                })
            })
            .given(SOURCE.create())
            .when(
                put(document("Ma%C3%9Fe-Oben"))
                    .json(content)
                    .expect(success()),
            )
            .when(get(document("Ma%C3%9Fe-Oben")).expect(at("/result")))
    }),
];

fn mismatched(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(misnamed(resource, "", resource.first))
}

/// Expects that a rejected request neither changes nor creates anything.
fn refused(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create())
        .when(misnamed(resource, "", resource.second))
        .when(get(resource.item("")).expect(at(resource.field)))
        .when(misnamed(resource, "-new", resource.first))
        .each(["-new", "-other"], |scenario, suffix| {
            scenario.when(get(resource.item(suffix)).expect(status()))
        })
}

/// A PUT of a definition that names another resource.
fn misnamed(resource: Resource, suffix: &str, definition: fn() -> Value) -> Step {
    let fields = definitions::with(definition(), json!({"name": "{ns}-other"}));
    resource
        .define(suffix, fields)
        .expect(status())
        .expect(at("/code"))
}

fn unnamed(resource: Resource) -> Scenario {
    scenario()
        .when(resource.create().expect(success()))
        .when(get(resource.item("")).expect(at(resource.name)))
}

fn named_decoded(resource: Resource) -> Scenario {
    scenario()
        .when(
            resource
                .define("%2Feast", json!({"name": "{ns}/east"}))
                .expect(success()),
        )
        .when(get(resource.item("%2Feast")).expect(at(resource.name)))
}
