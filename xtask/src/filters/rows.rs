//! The table on which filters are tried: hard values of every kind.

use rego::Value;
use rego::value::Number;

use super::Columns;

/// The columns: their names, and their types in SQLite, PostgreSQL and MariaDB.
pub(super) const COLUMNS: &[(&str, [&str; 3])] = &[
    ("s", ["TEXT", "text", "varchar(200)"]),
    ("s2", ["TEXT", "text", "varchar(200)"]),
    ("n", ["INTEGER", "bigint", "bigint"]),
    ("n2", ["INTEGER", "bigint", "bigint"]),
    ("r", ["REAL", "double precision", "double"]),
    ("b", ["BOOLEAN", "boolean", "boolean"]),
    ("order", ["TEXT", "text", "varchar(200)"]),
];

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) columns: Columns,
}

impl Row {
    /// The row as a document.
    pub(super) fn document(&self) -> Value {
        let columns = self.columns.iter();
        Value::object(columns.map(|(name, value)| (*name, value.clone())))
    }
}

/// Strings that are hard for databases.
pub(super) const TEXTS: &[&str] = &[
    "",
    "a",
    "A",
    "a ",
    " a",
    "ab",
    "apple",
    "Apple",
    "apple pie",
    "b",
    "O'Brien",
    "it''s",
    "\"q\"",
    "back\\slash",
    "ends \\",
    "100%",
    "100 percent",
    "a_b",
    "axb",
    "[abc]",
    "[",
    "a!b",
    "!",
    "%",
    "_",
    "10",
    "1",
    "1.0",
    "1e1",
    "+1",
    " 1",
    "0x1",
    "true",
    "false",
    "null",
    "t",
    "NaN",
    "line\nbreak",
    "tab\tstop",
    "cr\r",
    "bell\u{7}",
    "\u{1a}",
    "žluťoučký",
    "Žluťoučký",
    "e\u{301}",
    "é",
    "ß",
    "ss",
    "苹果",
    "🍎",
    "\u{ffff}",
    "'; DROP TABLE t; --",
    "' OR '1'='1",
    "\\' OR 1=1 --",
    "$1",
    ":name",
    "?",
    "2020-01-01",
    "\u{a0}",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "10",
    "-3",
    "100",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "12",
    "7",
];

const FLOATS: &[&str] = &[
    "0.5",
    "1.5",
    "-1.5",
    "10",
    "0.1",
    "0.30000000000000004",
    "1e100",
    "1e-7",
    "3.14",
    "9007199254740992",
    "-2.25",
    "1000",
];

/// All rows.
pub(super) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for place in 0..TEXTS.len() {
        let text = |text: Option<&&str>| text.map_or(Value::Null, |text| Value::from(*text));
        let number = |text: Option<&&str>| {
            let number = text.and_then(|text| Number::parse(text));
            number.map_or(Value::Null, Value::from)
        };
        // One row in seven has no value in a column, another one in each.
        let some = |column: usize| (place + column) % 7 != 6;
        let one_of = |list: &'static [&'static str], step: usize, column: usize| {
            let found = list.get((place * step) % list.len());
            found.filter(|_| some(column))
        };
        let mut columns = Columns::new();
        columns.insert("s", text(TEXTS.get(place).filter(|_| some(0))));
        columns.insert(
            "s2",
            text(one_of(TEXTS, if place % 3 == 0 { 1 } else { 5 }, 1)),
        );
        columns.insert("n", number(one_of(NUMBERS, 1, 2)));
        columns.insert(
            "n2",
            number(one_of(NUMBERS, if place % 2 == 0 { 1 } else { 5 }, 3)),
        );
        columns.insert("r", number(one_of(FLOATS, 1, 4)));
        let flag = some(5).then_some(place % 3 == 0);
        columns.insert("b", flag.map_or(Value::Null, Value::from));
        columns.insert("order", text(one_of(TEXTS, 3, 6)));
        let id = i64::try_from(rows.len()).unwrap_or_default();
        rows.push(Row { id, columns });
    }
    rows
}
