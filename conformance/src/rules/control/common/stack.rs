//! Stack

use super::SOURCE;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("name-identifies", || {
        stored(json!({"selector": {"env": ["prod"]}}), |read| {
            read.keep(at("/result/name"))
        })
    }),
    Rule::new("selector-kept", || {
        stored(
            json!({"selector": {"env": ["prod", "staging"], "team": ["payments"]}}),
            |read| read.keep(at("/result/selector")),
        )
    }),
    Rule::new("exclude-selector-kept", || {
        stored(
            json!({
                "selector": {"env": ["prod"]},
                "exclude_selector": {"team": ["legacy", "trial"], "region": ["us"]},
            }),
            |read| read.keep(at("/result/exclude_selector")),
        )
    }),
    Rule::new("exclude-selector-optional", || {
        scenario()
            .when(
                put("/v1/stacks/{ns}")
                    .json(json!({"selector": {"env": ["prod"]}}))
                    .keep(status()),
            )
            .when(
                get("/v1/stacks/{ns}")
                    .keep(at("/result/selector"))
                    .keep(unset("/result/exclude_selector")),
            )
    }),
    Rule::new("requirements-kept", || {
        scenario()
            .given(SOURCE.create_as("-base"))
            .given(SOURCE.create_as("-lib"))
            .given(put("/v1/stacks/{ns}").json(json!({
                "selector": {"env": ["prod"]},
                "requirements": [
                    {"source": "{ns}-base"},
                    {"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor.lib"},
                ],
            })))
            .when(
                get("/v1/stacks/{ns}")
                    .keep(length("/result/requirements"))
                    .keep(at("/result/requirements/0/source"))
                    .keep(at("/result/requirements/1/source"))
                    .keep(at("/result/requirements/1/path"))
                    .keep(at("/result/requirements/1/prefix")),
            )
    }),
];

/// A stack with this definition, read back.
fn stored(definition: Value, read: fn(Step) -> Step) -> Scenario {
    scenario()
        .given(put("/v1/stacks/{ns}").json(definition))
        .when(read(get("/v1/stacks/{ns}")))
}
