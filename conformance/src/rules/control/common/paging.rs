//! limit and cursor

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundles-limit", || limited(BUNDLE)),
    Rule::new("bundles-limit-maximum", || bounded(BUNDLE)),
    Rule::new("bundles-limit-of-the-maximum", || full(BUNDLE)),
    Rule::new("bundles-limit-default", || unlimited(BUNDLE)),
    Rule::new("bundles-cursor", || walked(BUNDLE)),
    Rule::new("sources-limit", || limited(SOURCE)),
    Rule::new("sources-limit-maximum", || bounded(SOURCE)),
    Rule::new("sources-limit-of-the-maximum", || full(SOURCE)),
    Rule::new("sources-limit-default", || unlimited(SOURCE)),
    Rule::new("sources-cursor", || walked(SOURCE)),
    Rule::new("stacks-limit", || limited(STACK)),
    Rule::new("stacks-limit-maximum", || bounded(STACK)),
    Rule::new("stacks-limit-of-the-maximum", || full(STACK)),
    Rule::new("stacks-limit-default", || unlimited(STACK)),
    Rule::new("stacks-cursor", || walked(STACK)),
    Rule::new("secrets-limit", || limited(SECRET)),
    Rule::new("secrets-limit-maximum", || bounded(SECRET)),
    Rule::new("secrets-limit-of-the-maximum", || full(SECRET)),
    Rule::new("secrets-limit-default", || unlimited(SECRET)),
    Rule::new("secrets-cursor", || walked(SECRET)),
    Rule::new("limit-not-integer", || {
        scenario().given(BUNDLE.create()).when(
            get("/v1/bundles?limit=several")
                .off_contract("the limit is a word")
                .expect(status())
                .expect(at("/code")),
        )
    }),
    Rule::new("limit-zero", || odd_query("limit=0")),
    Rule::new("limit-negative", || odd_query("limit=-1")),
    Rule::new("cursor-malformed", || odd_query("cursor=never-given-out")),
];

/// Number of resources: one more than fits on a page, so that a page is full whatever else the
/// target contains.
const MORE_THAN_A_PAGE: u32 = 101;

fn limited(resource: Resource) -> Scenario {
    scenario().given(resource.create_many(3)).when(
        get(format!("{}?limit=2", resource.list))
            .expect(status())
            .expect(kind_among("/result/0", &[Kind::Object, Kind::String]))
            .expect(at_most("/result", 2)),
    )
}

fn bounded(resource: Resource) -> Scenario {
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
fn full(resource: Resource) -> Scenario {
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

fn unlimited(resource: Resource) -> Scenario {
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
fn walked(resource: Resource) -> Scenario {
    scenario()
        .given(resource.create_many(12))
        .when(walk(format!("{}?limit=10", resource.list)).expect(names("/result")))
}

fn odd_query(query: &str) -> Scenario {
    scenario().given(BUNDLE.create()).when(
        get(format!("/v1/bundles?{query}"))
            .off_contract("the document does not define this value")
            .expect(status()),
    )
}
