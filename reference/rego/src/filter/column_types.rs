//! Column types given by requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::condition::Column;
use super::target::Target;
use crate::Value;
use crate::value::Object;

/// The kind of the values in a column, in Rego's order of kinds. A row may have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnType {
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`, in a collation that tells all strings apart and has them in the order of their
    /// bytes in UTF-8. Where the database ignores spaces at the end, the column has none.
    String,
}

/// The types of columns for one target: for each table an object of its columns, and the type
/// itself for a column without a table. With them a comparison needs no look at the values, so
/// that the database can answer it from an index.
#[derive(Debug, Clone, Default)]
pub struct ColumnTypes(BTreeMap<Column, ColumnType>);

impl ColumnTypes {
    /// The types for a target: those under its dialect, else those under its language, else all.
    ///
    /// # Errors
    /// Says what is no type.
    pub fn select(all: &Value, target: Target) -> Result<Self, String> {
        let mut types = BTreeMap::new();
        for (name, told) in target.own_part(all)? {
            let name = name.as_str().unwrap_or_default();
            match told {
                Value::Object(columns) => read_table(name, columns, &mut types)?,
                told => {
                    let of = ColumnType::read(told).map_err(|why| format!("{name}: {why}"))?;
                    types.insert(column(None, name), of);
                }
            }
        }
        Ok(Self(types))
    }

    /// These, and of other columns what `others` say.
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
    for (name, told) in columns {
        // The tables of a target that was not chosen.
        if matches!(told, Value::Object(_)) {
            continue;
        }
        let name = name.as_str().unwrap_or_default();
        let of = ColumnType::read(told).map_err(|why| format!("{table}.{name}: {why}"))?;
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
    fn read(told: &Value) -> Result<Self, String> {
        match told.as_str() {
            Some("boolean") => Ok(Self::Boolean),
            Some("number") => Ok(Self::Number),
            Some("string") => Ok(Self::String),
            Some(other) => Err(format!("unknown type {other:?}")),
            None => Err(format!("expected string, got {}", told.kind())),
        }
    }
}
