//! Rows for testing data filters, and the expected selections.

use serde::Serialize;
use serde_json::{Map, Value};

/// Language of a condition in a response.
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

/// A table on whose rows conditions are evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    pub(crate) name: &'static str,
    pub(crate) rows: Map<String, Value>,
}

impl Table {
    /// Creates a table of this name. `rows` is an object of rows, each an object of columns; the
    /// rows' names are only for the transcript. A column that a row lacks is null there.
    pub fn new(name: &'static str, rows: Value) -> Self {
        let rows = match rows {
            Value::Object(rows) => rows,
            _ => Map::new(),
        };
        Self { name, rows }
    }
}

/// Fact about the rows that the condition at a pointer selects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rows {
    pub(crate) pointer: &'static str,
    pub(crate) language: Language,
    pub(crate) table: Table,
    pub(crate) expected: Vec<&'static str>,
    pub(crate) unless: Vec<Unless>,
}

/// Accepted alternatives to a condition that selects the expected rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unless {
    /// The request is rejected with a status of 400 or above: not every target has to support every
    /// condition, and no document specifies the status.
    Refused,
    /// The response contains one condition, but with parts whose meaning only its database knows.
    NotPlain,
}

impl Rows {
    /// Expects rows of the condition at the pointer: an empty condition selects all, a successful
    /// response without one selects none.
    pub fn of(language: Language, pointer: &'static str, table: &Table) -> Self {
        Self {
            pointer,
            language,
            table: table.clone(),
            expected: Vec::new(),
            unless: Vec::new(),
        }
    }

    /// Expects the rows with these names, or one of the alternatives.
    #[must_use]
    pub fn unless(mut self, unless: &[Unless], expected: &[&'static str]) -> Self {
        self.unless = unless.to_vec();
        self.expected = expected.to_vec();
        self.expected.sort_unstable();
        self
    }
}
