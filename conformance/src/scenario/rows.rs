//! Rows on which filters are tried, and those that must be selected.

use serde::Serialize;
use serde_json::{Map, Value};

/// The language in which a condition is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// A UCAST object.
    Ucast,
    /// A WHERE clause for SQLite.
    Sqlite,
    /// A WHERE clause for PostgreSQL.
    Postgresql,
    /// A WHERE clause for MySQL.
    Mysql,
    /// A WHERE clause for SQL Server.
    Sqlserver,
}

/// A table on whose rows conditions are tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    pub(crate) name: &'static str,
    pub(crate) rows: Map<String, Value>,
}

impl Table {
    /// A table of this name. `rows` is an object of rows, each an object of columns; the rows'
    /// names are for the transcript only. A column that a row lacks is null there.
    pub fn new(name: &'static str, rows: Value) -> Self {
        let rows = match rows {
            Value::Object(rows) => rows,
            _ => Map::new(),
        };
        Self { name, rows }
    }
}

/// What a transcript holds of the rows that the condition at a place selects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rows {
    pub(crate) pointer: &'static str,
    pub(crate) language: Language,
    pub(crate) table: Table,
    pub(crate) expected: Vec<&'static str>,
    pub(crate) unless: Vec<Unless>,
}

/// What may be there instead of a condition that selects the expected rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unless {
    /// The request is refused by a status of 400 or above: not every target has to understand every
    /// condition, and no document says by which status it is refused.
    Refused,
    /// The text is one condition, with parts whose meaning only its database knows.
    NotPlain,
}

impl Rows {
    /// The rows that the condition at the pointer selects: all if it is empty, none if an answer
    /// that is a success has none.
    pub fn of(language: Language, pointer: &'static str, table: &Table) -> Self {
        Self {
            pointer,
            language,
            table: table.clone(),
            expected: Vec::new(),
            unless: Vec::new(),
        }
    }

    /// The rows of these names, unless there is something else that may be there instead.
    #[must_use]
    pub fn unless(mut self, unless: &[Unless], expected: &[&'static str]) -> Self {
        self.unless = unless.to_vec();
        self.expected = expected.to_vec();
        self.expected.sort_unstable();
        self
    }
}
