//! Rows that SQL conditions select: comparisons, joined conditions, negations and numbers.

use super::selections::*;
use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

pub(super) fn one_condition() -> Scenario {
    let start = scenario().given(policy(RED));
    start.each(SQL, |scenario, target| {
        scenario.when(filter("include", target).expect(target.red_rows(&fruits())))
    })
}

pub(super) fn comparisons() -> Scenario {
    all_must_support(&SQL, &fruits(), COMPARISONS)
}

pub(super) fn null() -> Scenario {
    all_must_support(&SQL, &fruits(), COMPARISONS_WITH_NULL)
}

pub(super) fn joined_conditions() -> Scenario {
    all_must_support(&SQL, &fruits(), JOINED)
}

pub(super) fn negation() -> Scenario {
    let required = [COMPARISONS, COMPARISONS_WITH_NULL, JOINED].concat();
    all_may_reject(&SQL, &fruits(), &required, NEGATIONS)
}

/// A table of numbers, and of strings that look like them.
fn numbers_and_codes() -> Table {
    Table::new(
        "fruits",
        json!({
            "five": {"price": 5, "weight": 0.5, "code": "5"},
            "ten": {"price": 10, "weight": 1.25, "code": "10"},
            "hundred": {"price": 100, "weight": 10.0, "code": "100"},
            "negative": {"price": -20, "weight": 9.5, "code": "-20"},
            "zero": {"price": 0, "weight": 0, "code": "0"},
        }),
    )
}

/// A comparison that a target must support: only then may it reject other comparisons with numbers.
const REQUIRED: &[Case] = &[("plain", "input.fruits.price == 5", &["five"])];

pub(super) fn numbers_in_order() -> Scenario {
    let cases: &[Case] = &[
        ("above", "input.fruits.price > 9", &["hundred", "ten"]),
        ("below", "input.fruits.price < -3", &["negative"]),
        (
            "under_ten",
            "input.fruits.price < 10",
            &["five", "negative", "zero"],
        ),
    ];
    all_may_reject(&SQL, &numbers_and_codes(), REQUIRED, cases)
}

pub(super) fn fractions_and_exponents() -> Scenario {
    let cases: &[Case] = &[
        ("fraction", "input.fruits.price == 10.0", &["ten"]),
        (
            "exponent",
            "input.fruits.price <= 1e1",
            &["five", "negative", "ten", "zero"],
        ),
        ("heavy", "input.fruits.weight > 9", &["hundred", "negative"]),
        ("half", "input.fruits.weight == 0.5", &["five"]),
    ];
    all_may_reject(&SQL, &numbers_and_codes(), REQUIRED, cases)
}

pub(super) fn zero() -> Scenario {
    let cases: &[Case] = &[
        ("nothing", "input.fruits.price == 0", &["zero"]),
        (
            "something",
            "input.fruits.price > 0",
            &["five", "hundred", "ten"],
        ),
    ];
    all_may_reject(&SQL, &numbers_and_codes(), REQUIRED, cases)
}

/// Comparisons of numbers with strings, for SQLite only. Other databases reject them, so the suite,
/// which evaluates all conditions in SQLite, cannot judge theirs.
pub(super) fn numbers_and_texts() -> Scenario {
    let cases: &[Case] = &[
        ("number_of_text", "input.fruits.code == 10", &[]),
        (
            "number_in_list",
            "input.fruits.code in [5, \"10\"]",
            &["ten"],
        ),
        ("text_of_number", "input.fruits.price == \"10\"", &[]),
    ];
    all_may_reject(&[SQLITE], &numbers_and_codes(), REQUIRED, cases)
}
