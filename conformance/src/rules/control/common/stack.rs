//! Stack

use super::{SOURCE, STACK};
use crate::rules::control::definitions;
use crate::rules::control::distribution::{
    add_source, bundle, data, decides, distributed, everything, requirements, stack,
    stored_containing,
};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-identifies", || {
        stored(json!({"selector": {"env": ["prod"]}}), |read| {
            read.expect(at("/result/name"))
        })
    }),
    Rule::new("selector-kept", || {
        stored(
            json!({"selector": {"env": ["prod", "staging"], "team": ["payments"]}}),
            |read| read.expect(at("/result/selector")),
        )
    }),
    Rule::new("exclude-selector-kept", || {
        stored(
            json!({
                "selector": {"env": ["prod"]},
                "exclude_selector": {"team": ["legacy", "trial"], "region": ["us"]},
            }),
            |read| read.expect(at("/result/exclude_selector")),
        )
    }),
    Rule::new("exclude-selector-optional", || {
        scenario()
            .when(
                put("/v1/stacks/{ns}")
                    .json(definitions::stack(json!({})))
                    .expect(status()),
            )
            .when(
                get("/v1/stacks/{ns}")
                    .expect(at("/result/selector"))
                    .expect(unset("/result/exclude_selector")),
            )
    }),
    Rule::new("requirements-kept", || {
        scenario()
            .given(SOURCE.create_as("-base"))
            .given(SOURCE.create_as("-lib"))
            .given(STACK.define(
                "",
                json!({"requirements": [
                    {"source": "{ns}-base"},
                    {"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor.lib"},
                ]}),
            ))
            .when(
                get("/v1/stacks/{ns}")
                    .expect(length("/result/requirements"))
                    .expect(at("/result/requirements/0/source"))
                    .expect(at("/result/requirements/1/source"))
                    .expect(at("/result/requirements/1/path"))
                    .expect(at("/result/requirements/1/prefix")),
            )
    }),
    Rule::new("selector-chooses-targets", || {
        reaching(
            json!({"selector": {"env": ["prod", "staging"]}}),
            [json!({"env": "prod"}), json!({"env": "staging"})],
            [json!({"env": "test"}), json!({"team": "prod"})],
        )
    }),
    Rule::new("exclude-selector-removes-targets", || {
        reaching(
            json!({"selector": {"env": ["prod"]}, "exclude_selector": {"team": ["legacy"]}}),
            [
                json!({"env": "prod"}),
                json!({"env": "prod", "team": "payments"}),
            ],
            [
                json!({"env": "prod", "team": "legacy"}),
                json!({"team": "legacy"}),
            ],
        )
    }),
    Rule::new("requirements-reach-targets", || {
        let names = ["shop", "guard", "audit"];
        let is_active = |name: &str| Check::Holds("/result".to_owned(), json!(name));
        names
            .into_iter()
            .fold(distributed(), add_source)
            .given(bundle(
                "first",
                json!({"labels": {"env": "prod"}, "requirements": requirements(&["shop"])}),
            ))
            .given(put("/v1/stacks/{ns}").json(json!({
                "selector": {"env": ["prod"]},
                "requirements": requirements(&["guard", "audit"]),
            })))
            .when(
                everything()
                    .until([is_active("guard"), is_active("audit")])
                    .expect(holds("/result", json!("guard")))
                    .expect(holds("/result", json!("audit"))),
            )
            .when(decides("shop/name", json!("shop")))
    }),
];

/// Expects that a stack applies to bundles with the chosen labels, and not to those with the other
/// labels. The latter are checked once a later change has reached them.
fn reaching(selectors: Value, chosen: [Value; 2], others: [Value; 2]) -> Scenario {
    let bundles = |start: &'static str, labels: [Value; 2]| {
        let numbered = labels.into_iter().zip(1..);
        numbered.map(move |(labels, number)| (format!("{start}-{number}"), labels))
    };
    let all = bundles("chosen", chosen.clone()).chain(bundles("other", others.clone()));
    let defined = |scenario: Scenario, (name, labels): (String, Value)| {
        let fields = json!({"labels": labels, "requirements": requirements(&["shop"])});
        scenario.given(bundle(&name, fields))
    };
    ["shop", "guard"]
        .into_iter()
        .fold(distributed(), add_source)
        .given(data("guard", "marks", json!("brought")))
        .given(stack(selectors))
        .each(all, defined)
        .each(bundles("chosen", chosen), |scenario, (name, _)| {
            scenario.when(stored_containing(&name, "brought").expect(holds("", json!("brought"))))
        })
        .given(data("shop", "later", json!("later")))
        .each(bundles("other", others), |scenario, (name, _)| {
            scenario.when(stored_containing(&name, "later").expect(without("brought")))
        })
}

/// Writes a stack with this definition, and reads it back.
fn stored(definition: Value, read: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(put("/v1/stacks/{ns}").json(definitions::stack(definition)))
        .when(read(get("/v1/stacks/{ns}")))
}
