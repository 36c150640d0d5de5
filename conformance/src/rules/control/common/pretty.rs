//! pretty

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundles-bare", || pretty_printed(BUNDLE, "pretty")),
    Rule::new("bundles-true", || pretty_printed(BUNDLE, "pretty=true")),
    Rule::new("sources-bare", || pretty_printed(SOURCE, "pretty")),
    Rule::new("sources-true", || pretty_printed(SOURCE, "pretty=true")),
    Rule::new("stacks-bare", || pretty_printed(STACK, "pretty")),
    Rule::new("stacks-true", || pretty_printed(STACK, "pretty=true")),
    Rule::new("secrets-bare", || pretty_printed(SECRET, "pretty")),
    Rule::new("secrets-true", || pretty_printed(SECRET, "pretty=true")),
    Rule::new("not-when-false", || {
        scenario().each(RESOURCES, |scenario, resource| {
            scenario
                .given(resource.create())
                .when(get(format!("{}?limit=1&pretty=false", resource.list)).expect(pretty()))
        })
    }),
    Rule::new("other-values", || {
        scenario()
            .given(BUNDLE.create())
            .each(["1", "TRUE", "yes", "0"], |scenario, value| {
                scenario.when(
                    get(format!("{}?limit=1&pretty={value}", BUNDLE.list))
                        .off_contract("the document does not define this value")
                        .expect(status())
                        .expect(pretty()),
                )
            })
    }),
    Rule::new("single-read", || {
        scenario().given(BUNDLE.create()).when(
            get(BUNDLE.item("?pretty=true"))
                .off_contract("only lists document the parameter")
                .expect(status())
                .expect(pretty()),
        )
    }),
];

fn pretty_printed(resource: Resource, parameter: &str) -> Scenario {
    scenario()
        .given(resource.create())
        .when(get(format!("{}?limit=1&{parameter}", resource.list)).expect(pretty()))
}
