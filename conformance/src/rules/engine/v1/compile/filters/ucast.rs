//! Rows that UCAST objects select.

use super::selections::*;
use super::tables::*;
use crate::scenario::*;

/// A comparison that a target must support: only then may it reject others.
const REQUIRED: &[Case] = &[(
    "is_yellow",
    r#"input.fruits.colour == "yellow""#,
    &["banana"],
)];

/// A table of values that a program may confuse with missing ones.
fn falsy() -> Table {
    Table::new(
        "fruits",
        json!({
            "none": {"ripe": false, "stones": 0, "note": ""},
            "some": {"ripe": true, "stones": 2, "note": "sweet"},
            "unknown": {"ripe": null, "stones": null, "note": null},
        }),
    )
}

const COMPARISONS_WITH_BOOLEANS: &[Case] = &[
    ("ripe", "input.fruits.ripe == true", &["some"]),
    ("unripe", "input.fruits.ripe == false", &["none"]),
    (
        "not_unripe",
        "{\n\tinput.fruits.ripe != null\n\tinput.fruits.ripe != false\n}",
        &["some"],
    ),
];

const COMPARISONS_WITH_ZERO: &[Case] = &[
    ("without_stones", "input.fruits.stones == 0", &["none"]),
    (
        "with_stones",
        "{\n\tinput.fruits.stones != null\n\tinput.fruits.stones != 0\n}",
        &["some"],
    ),
    (
        "at_least_none",
        "input.fruits.stones >= 0",
        &["none", "some"],
    ),
];

const COMPARISONS_WITH_EMPTY_TEXT: &[Case] = &[
    ("without_note", r#"input.fruits.note == """#, &["none"]),
    (
        "with_note",
        "{\n\tinput.fruits.note != null\n\tinput.fruits.note != \"\"\n}",
        &["some"],
    ),
];

const LISTS: &[Case] = &[(
    "among",
    r#"input.fruits.owner in ["alice", "carol"]"#,
    &["apple"],
)];

/// Lists with values that a program may confuse with missing ones.
const LISTS_OF_FALSY: &[Case] = &[
    (
        "ripe_or_not",
        "input.fruits.ripe in [true, false]",
        &["none", "some"],
    ),
    ("few_stones", "input.fruits.stones in [1, 0]", &["none"]),
    (
        "few_words",
        r#"input.fruits.note in ["sweet", null, ""]"#,
        &["none", "some", "unknown"],
    ),
];

/// A table of the fruits with only the column of colours.
fn colours() -> Table {
    Table::new(
        "fruits",
        json!({
            "apple": {"colour": "red"},
            "banana": {"colour": "yellow"},
            "cherry": {"colour": "red"},
            "durian": {"colour": null},
        }),
    )
}

const PARTS_OF_TEXTS: &[Case] = &[
    (
        "begins",
        r#"startswith(input.fruits.colour, "r")"#,
        &["apple", "cherry"],
    ),
    (
        "ends",
        r#"endswith(input.fruits.colour, "low")"#,
        &["banana"],
    ),
    (
        "has",
        r#"contains(input.fruits.colour, "e")"#,
        &["apple", "banana", "cherry"],
    ),
    (
        "has_inside",
        r#"contains(input.fruits.colour, "ell")"#,
        &["banana"],
    ),
    ("has_wildcard", r#"contains(input.fruits.colour, "%")"#, &[]),
];

pub(super) fn comparisons() -> Scenario {
    all_must_support(&UCAST, &fruits(), COMPARISONS)
}

pub(super) fn null() -> Scenario {
    all_must_support(&UCAST, &fruits(), COMPARISONS_WITH_NULL)
}

pub(super) fn booleans() -> Scenario {
    all_must_support(&UCAST, &falsy(), COMPARISONS_WITH_BOOLEANS)
}

pub(super) fn zero() -> Scenario {
    all_must_support(&UCAST, &falsy(), COMPARISONS_WITH_ZERO)
}

pub(super) fn empty_text() -> Scenario {
    all_must_support(&UCAST, &falsy(), COMPARISONS_WITH_EMPTY_TEXT)
}

pub(super) fn joined_conditions() -> Scenario {
    all_must_support(&UCAST, &fruits(), JOINED)
}

pub(super) fn negation() -> Scenario {
    all_may_reject(&UCAST, &fruits(), REQUIRED, NEGATIONS)
}

pub(super) fn lists() -> Scenario {
    let start = scenario().given(rules(&[REQUIRED, LISTS, LISTS_OF_FALSY]));
    start.each(UCAST, |scenario, target| {
        let start = must_support(scenario, &fruits(), REQUIRED, target);
        let start = may_reject(start, &fruits(), LISTS, target);
        may_reject(start, &falsy(), LISTS_OF_FALSY, target)
    })
}

pub(super) fn parts_of_texts() -> Scenario {
    all_may_reject(&UCAST, &colours(), REQUIRED, PARTS_OF_TEXTS)
}
