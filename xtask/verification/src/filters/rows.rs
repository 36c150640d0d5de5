//! Tables whose rows contain values that are difficult for databases.

use rego::Value;
use rego::value::{Number, from_json};

use super::Columns;

/// Columns of the table `t`: their names, and their types in SQLite, PostgreSQL and MariaDB.
pub(super) const COLUMNS: &[(&str, [&str; 3])] = &[
    ("s", ["TEXT", "text", "varchar(200)"]),
    ("s2", ["TEXT", "text", "varchar(200)"]),
    ("n", ["INTEGER", "bigint", "bigint"]),
    ("n2", ["INTEGER", "bigint", "bigint"]),
    ("r", ["REAL", "double precision", "double"]),
    ("b", ["BOOLEAN", "boolean", "boolean"]),
    ("order", ["TEXT", "text", "varchar(200)"]),
];

/// Columns of the table `u`, which is joined: their names and types as for `t`.
pub(super) const JOINED: &[(&str, [&str; 3])] = &[
    ("s", ["TEXT", "text", "varchar(200)"]),
    ("n", ["INTEGER", "bigint", "bigint"]),
    ("b", ["BOOLEAN", "boolean", "boolean"]),
];

/// Table with its name, its columns and its rows in order of their ids.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, [&'static str; 3])],
    pub(super) rows: Vec<Columns>,
}

/// Row of `t`, together with one of `u` if both are joined.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) tables: Vec<(&'static str, Columns)>,
}

impl Row {
    /// Returns this row of each table, as members of the input.
    pub(super) fn documents(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let tables = self.tables.iter();
        tables.map(|(table, columns)| {
            let columns = columns.iter();
            let row = Value::object(columns.map(|(name, value)| (*name, value.clone())));
            (*table, row)
        })
    }

    /// Returns the value of a column in the row; none if there is no such column.
    pub(super) fn column(&self, table: &str, name: &str) -> Option<&Value> {
        let mut tables = self.tables.iter();
        let (_, columns) = tables.find(|(known, _)| *known == table)?;
        columns.get(name)
    }
}

/// Returns every row of `t`, paired with every row of `u` if joined.
pub(super) fn all(joined: bool) -> Vec<Row> {
    let [first, second] = tables();
    let number = |index: usize| i64::try_from(index).unwrap_or_default();
    let mut rows = Vec::new();
    for (index, columns) in first.rows.into_iter().enumerate() {
        let own = (first.name, columns);
        if !joined {
            let id = number(index);
            rows.push(Row {
                id,
                tables: vec![own],
            });
            continue;
        }
        for (other, columns) in second.rows.iter().enumerate() {
            rows.push(Row {
                id: number(index) * STEP + number(other),
                tables: vec![own.clone(), (second.name, columns.clone())],
            });
        }
    }
    rows
}

/// Factor by which the row number of `t` is multiplied in the id of a pair.
pub(super) const STEP: i64 = 100;

/// Strings that are difficult for databases.
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

/// Returns the tables.
pub(super) fn tables() -> [Table; 2] {
    let mut rows = Vec::new();
    for index in 0..TEXTS.len() {
        let text = |text: Option<&&str>| text.map_or(Value::Null, |text| Value::from(*text));
        let number = |text: Option<&&str>| {
            let number = text.and_then(|text| Number::parse(text));
            number.map_or(Value::Null, Value::from)
        };
        // Each column is null in every seventh row, at different rows for each column.
        let some = |column: usize| (index + column) % 7 != 6;
        let one_of = |list: &'static [&'static str], step: usize, column: usize| {
            let found = list.get((index * step) % list.len());
            found.filter(|_| some(column))
        };
        let mut columns = Columns::new();
        columns.insert("s", text(TEXTS.get(index).filter(|_| some(0))));
        columns.insert(
            "s2",
            text(one_of(TEXTS, if index % 3 == 0 { 1 } else { 5 }, 1)),
        );
        columns.insert("n", number(one_of(NUMBERS, 1, 2)));
        columns.insert(
            "n2",
            number(one_of(NUMBERS, if index % 2 == 0 { 1 } else { 5 }, 3)),
        );
        columns.insert("r", number(one_of(FLOATS, 1, 4)));
        let flag = some(5).then_some(index % 3 == 0);
        columns.insert("b", flag.map_or(Value::Null, Value::from));
        columns.insert("order", text(one_of(TEXTS, 3, 6)));
        rows.push(columns);
    }
    let first = Table {
        name: "t",
        columns: COLUMNS,
        rows,
    };
    let joined = [
        ("\"a\"", "1", "true"),
        ("\"A\"", "10", "false"),
        ("\"apple\"", "null", "null"),
        ("\"\"", "-3", "true"),
        ("null", "2", "false"),
        ("\"10\"", "9007199254740993", "null"),
    ];
    let rows = joined.map(|(s, n, b)| {
        let columns = [("s", s), ("n", n), ("b", b)].into_iter();
        let columns = columns.map(|(name, text)| (name, json(text)));
        columns.collect()
    });
    let second = Table {
        name: "u",
        columns: JOINED,
        rows: rows.into(),
    };
    [first, second]
}

/// Parses a JSON value.
pub(super) fn json(text: &str) -> Value {
    from_json(text.as_bytes()).unwrap_or(Value::Null)
}
