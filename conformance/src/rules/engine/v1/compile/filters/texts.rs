//! Rows that SQL conditions select by strings and substrings.

use super::selections::*;
use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

/// A row's name, and its string.
type Text = (&'static str, &'static str);

/// Strings that break out of their quotes if they are pasted into a clause, and one that does not.
const QUOTES: &[Text] = &[
    ("apostrophe", "O'Brien"),
    ("two apostrophes", "''"),
    ("alternative", "' OR '1' = '1"),
    ("comment", "x'; --"),
    ("double quotes", "\"x\" OR \"1\" = \"1\""),
    ("plain", "x"),
];

/// Strings that change if a backslash escapes the next character.
const BACKSLASHES: &[Text] = &[
    ("backslash", "back\\slash"),
    ("escaped", "\\' OR 1 = 1 -- "),
];

const EMPTY: &[Text] = &[("empty", "")];

pub(super) fn quotes() -> Scenario {
    equal_to(QUOTES)
}

pub(super) fn backslashes() -> Scenario {
    equal_to(BACKSLASHES)
}

pub(super) fn empty_text() -> Scenario {
    equal_to(EMPTY)
}

/// Compares a column with each of these strings, in a table of all strings, for each SQL target.
fn equal_to(texts: &[Text]) -> Scenario {
    let all = [QUOTES, BACKSLASHES, EMPTY].into_iter().flatten();
    let rows = all.map(|(row, text)| ((*row).to_owned(), json!({"name": text})));
    let unknown = ("unknown".to_owned(), json!({"name": null}));
    let table = Table::new("fruits", rows.chain([unknown]).collect());
    let start = scenario().given(policy("include if input.fruits.name == input.name"));
    start.each(SQL, |scenario, target| {
        scenario.each(texts, |scenario, (row, text)| {
            let body = json!({"input": {"name": text}, "unknowns": ["input.fruits"]});
            let step = filter_request("include", target.accept, body);
            scenario.when(step.expect(target.rows(QUERY, &table, &[row])))
        })
    })
}

/// A table of strings with parts that are patterns unless they are escaped.
fn names() -> Table {
    Table::new(
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
    )
}

/// A comparison that a target must support: only then may it reject a substring search.
const REQUIRED: &[Case] = &[("plain", r#"input.fruits.name == "x 100%""#, &["later"])];

pub(super) fn percent_signs() -> Scenario {
    parts(&[
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
    ])
}

pub(super) fn underscores() -> Scenario {
    parts(&[
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
    ])
}

pub(super) fn brackets() -> Scenario {
    parts(&[
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
    ])
}

/// Searches for characters that escape wildcards, by default or with an ESCAPE clause.
pub(super) fn escapes() -> Scenario {
    parts(&[
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
            "ends_mark",
            r#"endswith(input.fruits.name, "!")"#,
            &["small"],
        ),
    ])
}

/// Case-sensitive searches. In the other databases, case sensitivity is a setting of the table.
pub(super) fn capitals() -> Scenario {
    let cases: &[Case] = &[(
        "begins_large",
        r#"startswith(input.fruits.name, "A")"#,
        &["large"],
    )];
    all_may_reject(&[POSTGRESQL, SQLITE], &names(), REQUIRED, cases)
}

fn parts(cases: &[Case]) -> Scenario {
    all_may_reject(&SQL, &names(), REQUIRED, cases)
}
