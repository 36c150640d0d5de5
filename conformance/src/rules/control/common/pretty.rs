//! pretty

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundles-bare", || spread(BUNDLE, "pretty")),
    Rule::new("bundles-true", || spread(BUNDLE, "pretty=true")),
    Rule::new("sources-bare", || spread(SOURCE, "pretty")),
    Rule::new("sources-true", || spread(SOURCE, "pretty=true")),
    Rule::new("stacks-bare", || spread(STACK, "pretty")),
    Rule::new("stacks-true", || spread(STACK, "pretty=true")),
    Rule::new("secrets-bare", || spread(SECRET, "pretty")),
    Rule::new("secrets-true", || spread(SECRET, "pretty=true")),
    Rule::new("not-when-false", || {
        scenario().each(RESOURCES, |told, resource| {
            told.given(resource.create())
                .when(get(format!("{}?limit=1&pretty=false", resource.list)).expect(pretty()))
        })
    }),
    Rule::new("other-values", || {
        scenario()
            .given(BUNDLE.create())
            .each(["1", "TRUE", "yes", "0"], |told, value| {
                told.when(
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

fn spread(resource: Resource, parameter: &str) -> Scenario {
    scenario()
        .given(resource.create())
        .when(get(format!("{}?limit=1&{parameter}", resource.list)).expect(pretty()))
}
