//! Rules for SQL and UCAST filters, the rows that they select, and builders of scenarios.
//!
//! A filter selects the rows for which its rule is true.

use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

/// A rule's name, its body after `if`, and the rows for which it is true.
pub(super) type Case = (&'static str, &'static str, &'static [&'static str]);

/// Comparisons that every target supports. None tests whether a column without a value is less or
/// unequal: that depends on whether the column counts as null or as missing.
pub(super) const COMPARISONS: &[Case] = &[
    (
        "is_red",
        r#"input.fruits.colour == "red""#,
        &["apple", "cherry"],
    ),
    ("above", "input.fruits.price > 10", &["banana", "cherry"]),
    (
        "from_to",
        "{\n\tinput.fruits.price >= 5\n\tinput.fruits.price <= 12\n}",
        &["apple", "banana"],
    ),
    (
        "between",
        "{\n\tinput.fruits.price > 5\n\tinput.fruits.price < 30\n}",
        &["banana"],
    ),
    (
        "other_colour",
        "{\n\tinput.fruits.colour != null\n\tinput.fruits.colour != \"red\"\n}",
        &["banana"],
    ),
];

/// Comparisons with null, which every target supports.
pub(super) const COMPARISONS_WITH_NULL: &[Case] = &[
    ("without_owner", "input.fruits.owner == null", &["durian"]),
    (
        "with_owner",
        "input.fruits.owner != null",
        &["apple", "banana", "cherry"],
    ),
    ("without_price", "input.fruits.price == null", &["durian"]),
];

/// Rules of several expressions and of several bodies, which every target supports.
pub(super) const JOINED: &[Case] = &[
    (
        "either",
        "{
	input.fruits.colour == \"red\"
	input.fruits.owner == \"alice\"
}

either if input.fruits.colour == \"yellow\"",
        &["apple", "banana"],
    ),
    (
        "pairs",
        "{
	input.fruits.colour == \"red\"
	input.fruits.owner == \"bob\"
}

pairs if {
	input.fruits.colour == \"red\"
	input.fruits.price == 5
}

pairs if {
	input.fruits.colour == \"yellow\"
	input.fruits.owner == \"alice\"
}",
        &["apple", "cherry"],
    ),
];

/// Negations. A column without a value is neither greater nor equal, whether it counts as null
/// or as missing, so its row is included.
pub(super) const NEGATIONS: &[Case] = &[
    (
        "not_above",
        "not input.fruits.price > 10",
        &["apple", "durian"],
    ),
    (
        "not_red",
        r#"not input.fruits.colour == "red""#,
        &["banana", "durian"],
    ),
    (
        "not_among",
        r#"not input.fruits.owner in ["alice"]"#,
        &["banana", "cherry", "durian"],
    ),
    (
        "not_both",
        "not both

both if {
	input.fruits.colour == \"red\"
	input.fruits.price < 10
}",
        &["banana", "cherry", "durian"],
    ),
];

/// Requests each rule for each target, which must support it.
pub(super) fn all_must_support(targets: &[Target], table: &Table, cases: &[Case]) -> Scenario {
    let start = scenario().given(rules(&[cases]));
    start.each(targets, |scenario, target| {
        must_support(scenario, table, cases, *target)
    })
}

/// Requests each rule for each target, which may reject it. The target must support the first plain
/// rule, which precedes the others, so that rejecting everything is not enough.
pub(super) fn all_may_reject(
    targets: &[Target],
    table: &Table,
    required: &[Case],
    cases: &[Case],
) -> Scenario {
    let start = scenario().given(rules(&[required, cases]));
    let first = required.get(..1).unwrap_or_default();
    start.each(targets, |scenario, target| {
        let start = must_support(scenario, table, first, *target);
        may_reject(start, table, cases, *target)
    })
}

/// Requests each rule for one target, which must support it.
pub(super) fn must_support(
    start: Scenario,
    table: &Table,
    cases: &[Case],
    target: Target,
) -> Scenario {
    start.each(cases, |scenario, (name, _, rows)| {
        scenario.when(filter(name, target).expect(target.rows(QUERY, table, rows)))
    })
}

/// Requests each rule for one target, which may reject it.
pub(super) fn may_reject(
    start: Scenario,
    table: &Table,
    cases: &[Case],
    target: Target,
) -> Scenario {
    start.each(cases, |scenario, (name, _, rows)| {
        scenario.when(filter(name, target).expect(target.rows_or_rejection(table, rows)))
    })
}

/// The policy with these rules.
pub(super) fn rules(cases: &[&[Case]]) -> Step {
    let cases = cases.iter().flat_map(|cases| cases.iter());
    let rules = cases.map(|(name, body, _)| format!("{name} if {body}"));
    policy(&rules.collect::<Vec<_>>().join("\n\n"))
}
