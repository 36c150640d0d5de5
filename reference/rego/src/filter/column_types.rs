//! Types of columns, as requests state them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::condition::Column;
use super::target::Target;
use crate::Value;
use crate::value::Object;

/// Type of the values in a column, in Rego's order of types. A row may have no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnType {
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`, in a collation that distinguishes all strings and sorts them by their bytes in
    /// UTF-8. If the database ignores trailing spaces, the values must not have any.
    String,
}

/// Column types for one target. A comparison of typed columns needs no test of their values, so
/// that the database can answer it from an index.
#[derive(Debug, Clone, Default)]
pub struct ColumnTypes(BTreeMap<Column, ColumnType>);

impl ColumnTypes {
    /// Selects the types for a target: those under its dialect, else under its language, else all.
    ///
    /// # Errors
    /// A message that names the invalid type.
    pub fn select(all: &Value, target: Target) -> Result<Self, String> {
        let mut types = BTreeMap::new();
        for (name, declared) in target.own_part(all)? {
            let name = name.as_str().unwrap_or_default();
            match declared {
                Value::Object(columns) => read_table(name, columns, &mut types)?,
                declared => {
                    let of = ColumnType::read(declared).map_err(|why| format!("{name}: {why}"))?;
                    types.insert(column(None, name), of);
                }
            }
        }
        Ok(Self(types))
    }

    /// Adds the types of columns that only `others` contains, and returns all.
    #[must_use]
    pub fn or(mut self, others: &Self) -> Self {
        for (column, of) in &others.0 {
            self.0.entry(column.clone()).or_insert(*of);
        }
        self
    }

    pub(super) fn get(&self, column: &Column) -> Option<ColumnType> {
        self.0.get(column).copied()
    }
}

fn read_table(
    table: &str,
    columns: &Object,
    types: &mut BTreeMap<Column, ColumnType>,
) -> Result<(), String> {
    for (name, declared) in columns {
        // Columns of a target that was not selected.
        if matches!(declared, Value::Object(_)) {
            continue;
        }
        let name = name.as_str().unwrap_or_default();
        let of = ColumnType::read(declared).map_err(|why| format!("{table}.{name}: {why}"))?;
        types.insert(column(Some(table), name), of);
    }
    Ok(())
}

fn column(table: Option<&str>, name: &str) -> Column {
    Column {
        table: table.map(Arc::from),
        name: Arc::from(name),
    }
}

impl ColumnType {
    fn read(declared: &Value) -> Result<Self, String> {
        match declared.as_str() {
            Some("boolean") => Ok(Self::Boolean),
            Some("number") => Ok(Self::Number),
            Some("string") => Ok(Self::String),
            Some(other) => Err(format!("unknown type {other:?}")),
            None => Err(format!("expected string, got {}", declared.kind())),
        }
    }
}
