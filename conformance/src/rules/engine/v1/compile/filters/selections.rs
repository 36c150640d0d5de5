//! What a filter selects: the rows for which its rule is true.

use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

/// A rule's name, what stands behind its `if`, and the rows for which it is true.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// Comparisons that every target has. Whether a column without a value is less or unequal is left
/// out: that depends on whether it counts as null or as missing.
const COMPARISONS: &[Case] = &[
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
    ("without_owner", "input.fruits.owner == null", &["durian"]),
    (
        "with_owner",
        "input.fruits.owner != null",
        &["apple", "banana", "cherry"],
    ),
    ("without_price", "input.fruits.price == null", &["durian"]),
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
const NEGATIONS: &[Case] = &[
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

/// Lists and parts of texts.
const LISTS_AND_PARTS: &[Case] = &[
    (
        "among",
        r#"input.fruits.owner in ["alice", "carol"]"#,
        &["apple"],
    ),
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

/// Values that a program may take for none.
fn edges() -> Table {
    Table::new(
        "fruits",
        json!({
            "none": {"ripe": false, "stones": 0, "note": ""},
            "some": {"ripe": true, "stones": 2, "note": "sweet"},
            "unknown": {"ripe": null, "stones": null, "note": null},
        }),
    )
}

/// Comparisons with such values.
const EDGES: &[Case] = &[
    ("ripe", "input.fruits.ripe == true", &["some"]),
    ("unripe", "input.fruits.ripe == false", &["none"]),
    ("without_stones", "input.fruits.stones == 0", &["none"]),
    ("without_note", r#"input.fruits.note == """#, &["none"]),
    (
        "not_unripe",
        "{\n\tinput.fruits.ripe != null\n\tinput.fruits.ripe != false\n}",
        &["some"],
    ),
    (
        "with_stones",
        "{\n\tinput.fruits.stones != null\n\tinput.fruits.stones != 0\n}",
        &["some"],
    ),
    (
        "with_note",
        "{\n\tinput.fruits.note != null\n\tinput.fruits.note != \"\"\n}",
        &["some"],
    ),
    (
        "at_least_none",
        "input.fruits.stones >= 0",
        &["none", "some"],
    ),
];

/// Lists that hold such values.
const LISTS_OF_EDGES: &[Case] = &[
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

pub(super) fn ucast() -> Scenario {
    let plain = [COMPARISONS, NEGATIONS, LISTS_AND_PARTS];
    let start = scenario().given(rules(&[&plain[..], &[EDGES, LISTS_OF_EDGES]].concat()));
    start.each(UCAST, |scenario, target| {
        let start = scenario.each(COMPARISONS, |scenario, (name, _, rows)| {
            scenario.when(filter(name, target).expect(target.rows(QUERY, &fruits(), rows)))
        });
        let start = understood(start, &fruits(), NEGATIONS, target);
        let start = understood(start, &fruits(), LISTS_AND_PARTS, target);
        let start = start.each(EDGES, |scenario, (name, _, rows)| {
            scenario.when(filter(name, target).expect(target.rows(QUERY, &edges(), rows)))
        });
        understood(start, &edges(), LISTS_OF_EDGES, target)
    })
}

pub(super) fn where_clause() -> Scenario {
    let start = scenario().given(rules(&[COMPARISONS]));
    start.each(SQL, |scenario, target| {
        scenario.each(COMPARISONS, |scenario, (name, _, rows)| {
            scenario.when(filter(name, target).expect(target.rows(QUERY, &fruits(), rows)))
        })
    })
}

pub(super) fn negation() -> Scenario {
    understood_by_all(&fruits(), COMPARISONS, NEGATIONS)
}

/// A table of numbers, and of texts that look like them.
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

pub(super) fn numbers() -> Scenario {
    understood_by_all(
        &numbers_and_codes(),
        &[("plain", "input.fruits.price == 5", &["five"])],
        &[
            ("above", "input.fruits.price > 9", &["hundred", "ten"]),
            ("below", "input.fruits.price < -3", &["negative"]),
            ("fraction", "input.fruits.price == 10.0", &["ten"]),
            (
                "exponent",
                "input.fruits.price <= 1e1",
                &["five", "negative", "ten", "zero"],
            ),
            ("nothing", "input.fruits.price == 0", &["zero"]),
            (
                "something",
                "input.fruits.price > 0",
                &["five", "hundred", "ten"],
            ),
            (
                "under_ten",
                "input.fruits.price < 10",
                &["five", "negative", "zero"],
            ),
            ("heavy", "input.fruits.weight > 9", &["hundred", "negative"]),
            ("half", "input.fruits.weight == 0.5", &["five"]),
        ],
    )
}

/// Other databases refuse to compare numbers with texts, and SQLite cannot be asked in their place.
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
    let plain: &[Case] = &[("plain", "input.fruits.price == 5", &["five"])];
    let start = scenario().given(rules(&[plain, cases]));
    let start = answered(start, &numbers_and_codes(), plain, SQLITE);
    understood(start, &numbers_and_codes(), cases, SQLITE)
}

/// Texts that leave their quotes in a clause into which they are only pasted, and two that do not.
const TEXTS: [(&str, &str); 9] = [
    ("apostrophe", "O'Brien"),
    ("backslash", "back\\slash"),
    ("escaped", "\\' OR 1 = 1 -- "),
    ("alternative", "' OR '1' = '1"),
    ("comment", "x'; --"),
    ("double quotes", "\"x\" OR \"1\" = \"1\""),
    ("two apostrophes", "''"),
    ("plain", "x"),
    ("empty", ""),
];

pub(super) fn texts() -> Scenario {
    let rows = TEXTS
        .iter()
        .map(|(row, text)| ((*row).to_owned(), json!({"name": text})));
    let table = Table::new("fruits", rows.collect());
    let start = scenario().given(policy("include if input.fruits.name == input.name"));
    start.each(SQL, |scenario, target| {
        scenario.each(TEXTS, |scenario, (row, text)| {
            let body = json!({"input": {"name": text}, "unknowns": ["input.fruits"]});
            let step = asked("include", target.accept, body);
            scenario.when(step.expect(target.rows(QUERY, &table, &[row])))
        })
    })
}

pub(super) fn patterns() -> Scenario {
    let table = Table::new(
        "fruits",
        json!({
            "percent": {"name": "100% a_b"},
            "later": {"name": "x 100%"},
            "thousand": {"name": "x 1000"},
            "none": {"name": "1000 axb%"},
            "backslash": {"name": "c:\\100"},
            "last": {"name": "c:\\"},
            "line": {"name": "_x"},
            "large": {"name": "Apple[s]"},
            "small": {"name": "apple!"},
            "range": {"name": "[a-z]"},
            "null": {"name": null},
        }),
    );
    let plain: &[Case] = &[("plain", r#"input.fruits.name == "x 100%""#, &["later"])];
    let start = scenario().given(rules(&[plain, PATTERNS, CASES]));
    start.each(SQL, |scenario, target| {
        let start = answered(scenario, &table, plain, target);
        let start = understood(start, &table, PATTERNS, target);
        // Whether the others tell small letters from capitals is a setting of their tables.
        match target.language {
            Language::Mysql | Language::Sqlserver => start,
            _ => understood(start, &table, CASES, target),
        }
    })
}

/// Parts of texts of which only the case of letters differs.
const CASES: &[Case] = &[(
    "begins_large",
    r#"startswith(input.fruits.name, "A")"#,
    &["large"],
)];

/// Parts of texts that are patterns where they are not escaped.
const PATTERNS: &[Case] = &[
    (
        "begins",
        r#"startswith(input.fruits.name, "100%")"#,
        &["percent"],
    ),
    (
        "begins_before",
        r#"startswith(input.fruits.name, "x 100%")"#,
        &["later"],
    ),
    (
        "has_percent",
        r#"contains(input.fruits.name, "100%")"#,
        &["later", "percent"],
    ),
    (
        "ends",
        r#"endswith(input.fruits.name, "%")"#,
        &["later", "none"],
    ),
    (
        "has_line",
        r#"contains(input.fruits.name, "a_b")"#,
        &["percent"],
    ),
    (
        "begins_line",
        r#"startswith(input.fruits.name, "_")"#,
        &["line"],
    ),
    (
        "has_backslash",
        r#"contains(input.fruits.name, "\\")"#,
        &["backslash", "last"],
    ),
    (
        "ends_backslash",
        r#"endswith(input.fruits.name, "\\")"#,
        &["last"],
    ),
    (
        "begins_backslash",
        r#"startswith(input.fruits.name, "c:\\1")"#,
        &["backslash"],
    ),
    (
        "has_brackets",
        r#"contains(input.fruits.name, "[s]")"#,
        &["large"],
    ),
    (
        "has_range",
        r#"contains(input.fruits.name, "[a-z]")"#,
        &["range"],
    ),
    (
        "begins_bracket",
        r#"startswith(input.fruits.name, "[")"#,
        &["range"],
    ),
    (
        "ends_bracket",
        r#"endswith(input.fruits.name, "]")"#,
        &["large", "range"],
    ),
    (
        "ends_mark",
        r#"endswith(input.fruits.name, "!")"#,
        &["small"],
    ),
];

/// Each rule for each target with SQL, which may refuse it. What it must answer comes first, so
/// that refusing everything is not enough.
fn understood_by_all(table: &Table, plain: &[Case], cases: &[Case]) -> Scenario {
    let start = scenario().given(rules(&[plain, cases]));
    start.each(SQL, |scenario, target| {
        let start = answered(scenario, table, plain, target);
        understood(start, table, cases, target)
    })
}

/// The first rule for one target, which must answer it.
fn answered(start: Scenario, table: &Table, plain: &[Case], target: Target) -> Scenario {
    start.each(plain.iter().take(1), |scenario, (name, _, rows)| {
        scenario.when(filter(name, target).expect(target.rows(QUERY, table, rows)))
    })
}

/// Each rule for one target, which may refuse it.
fn understood(start: Scenario, table: &Table, cases: &[Case], target: Target) -> Scenario {
    start.each(cases, |scenario, (name, _, rows)| {
        scenario.when(filter(name, target).expect(target.rows_if_understood(table, rows)))
    })
}

/// The policy with these rules.
fn rules(cases: &[&[Case]]) -> Step {
    let cases = cases.iter().flat_map(|cases| cases.iter());
    let rules = cases.map(|(name, body, _)| format!("{name} if {body}"));
    policy(&rules.collect::<Vec<_>>().join("\n\n"))
}
