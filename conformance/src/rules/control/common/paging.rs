//! limit and cursor

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundles-limit", || limit_respected(BUNDLE)),
    Rule::new("bundles-limit-maximum", || limit_above_maximum(BUNDLE)),
    Rule::new("bundles-limit-of-the-maximum", || limit_of_maximum(BUNDLE)),
    Rule::new("bundles-limit-default", || default_limit(BUNDLE)),
    Rule::new("bundles-cursor", || all_pages(BUNDLE)),
    Rule::new("sources-limit", || limit_respected(SOURCE)),
    Rule::new("sources-limit-maximum", || limit_above_maximum(SOURCE)),
    Rule::new("sources-limit-of-the-maximum", || limit_of_maximum(SOURCE)),
    Rule::new("sources-limit-default", || default_limit(SOURCE)),
    Rule::new("sources-cursor", || all_pages(SOURCE)),
    Rule::new("stacks-limit", || limit_respected(STACK)),
    Rule::new("stacks-limit-maximum", || limit_above_maximum(STACK)),
    Rule::new("stacks-limit-of-the-maximum", || limit_of_maximum(STACK)),
    Rule::new("stacks-limit-default", || default_limit(STACK)),
    Rule::new("stacks-cursor", || all_pages(STACK)),
    Rule::new("secrets-limit", || limit_respected(SECRET)),
    Rule::new("secrets-limit-maximum", || limit_above_maximum(SECRET)),
    Rule::new("secrets-limit-of-the-maximum", || limit_of_maximum(SECRET)),
    Rule::new("secrets-limit-default", || default_limit(SECRET)),
    Rule::new("secrets-cursor", || all_pages(SECRET)),
    Rule::new("limit-not-integer", || {
        scenario().given(BUNDLE.create()).when(
            get("/v1/bundles?limit=several")
                .off_contract("the limit is a word")
                .expect(status())
                .expect(at("/code")),
        )
    }),
    Rule::new("limit-not-wholly-integer", || {
        let scenario = scenario().given(BUNDLE.create());
        scenario.each(["2x", "2.5", "2%202"], |scenario, limit| {
            scenario.when(
                get(format!("/v1/bundles?limit={limit}"))
                    .off_contract("the limit only begins with an integer")
                    .expect(status())
                    .expect(at("/code")),
            )
        })
    }),
    Rule::new("limit-zero", || undocumented_query("limit=0")),
    Rule::new("limit-negative", || undocumented_query("limit=-1")),
    Rule::new("cursor-malformed", || {
        undocumented_query("cursor=never-given-out")
    }),
];

/// Number of resources: one more than fits on a page, so that a page is full whatever else the
/// target contains.
const MORE_THAN_A_PAGE: u32 = 101;

fn limit_respected(resource: Resource) -> Scenario {
    scenario().given(resource.create_many(3)).when(
        get(format!("{}?limit=2", resource.list))
            .expect(status())
            .expect(kind_among("/result/0", &[Kind::Object, Kind::String]))
            .expect(at_most("/result", 2)),
    )
}

fn limit_above_maximum(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create_many(MORE_THAN_A_PAGE))
        .when(
            get(format!("{}?limit=1000", resource.list))
                .off_contract("the limit is above the maximum")
                .expect(either([
                    alternative(
                        "a page of 1 to 100 items",
                        [
                            Check::Status(200),
                            Check::AtLeast("/result".into(), 1),
                            Check::AtMost("/result".into(), 100),
                        ],
                    ),
                    alternative(
                        "400 invalid_parameter",
                        [
                            Check::Status(400),
                            Check::Equals("/code".into(), json!("invalid_parameter")),
                        ],
                    ),
                ])),
        )
}

/// Expects that the largest limit is accepted. No document says that the page is full, so it must
/// only contain items, not more than requested, and be followed by another page.
fn limit_of_maximum(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create_many(MORE_THAN_A_PAGE))
        .when(
            get(format!("{}?limit=100", resource.list))
                .expect(status())
                .expect(kind_among("/result/0", &[Kind::Object, Kind::String]))
                .expect(at_most("/result", 100))
                .expect(kind("/next_cursor", Kind::String)),
        )
}

fn default_limit(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create_many(MORE_THAN_A_PAGE))
        .when(
            get(resource.list)
                .expect(status())
                .expect(length("/result")),
        )
}

/// Reads all pages of a list. The scenario creates two resources more than fit on a page, so that
/// at least one page ends between two of them.
fn all_pages(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create_many(12))
        .when(walk(format!("{}?limit=10", resource.list)).expect(names("/result")))
}

fn undocumented_query(query: &str) -> Scenario {
    scenario().given(BUNDLE.create()).when(
        get(format!("/v1/bundles?{query}"))
            .off_contract("the document does not define this value")
            .expect(status()),
    )
}
