//! Mappings from names in policies to tables and columns of a database.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::condition::Column;
use super::target::Target;
use crate::Value;
use crate::value::Object;

/// Table and column names of one target, in the format of `targetSQLTableMappings`: for each table
/// an object of its columns, in which `$self` is the table itself, and `$table` the table that
/// contains the columns.
#[derive(Debug, Clone, Default)]
pub struct Mappings(Object);

/// Column, by its name in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnName {
    /// Schema and table, outermost first; empty for an unqualified name.
    pub(super) table: Vec<String>,
    /// Name of the column.
    pub(super) column: String,
}

impl Mappings {
    /// Selects the names for a target: those under its dialect, else under its language, else all.
    ///
    /// # Errors
    /// A message that states which name is not a string.
    pub fn select(all: &Value, target: Target) -> Result<Self, String> {
        let chosen = target.own_part(all)?;
        for (table, names) in chosen {
            let columns = names.as_object().into_iter().flatten();
            for (column, name) in columns {
                let special = matches!(column.as_str(), Some("$self" | "$table"));
                match name {
                    Value::String(_) => {}
                    // Names of a target that was not selected.
                    Value::Object(_) if !special => {}
                    other => {
                        let at = |key: &Value| key.as_str().unwrap_or_default().to_owned();
                        return Err(format!(
                            "{}.{}: expected string, got {}",
                            at(table),
                            at(column),
                            other.kind()
                        ));
                    }
                }
            }
        }
        Ok(Self(chosen.clone()))
    }

    /// Returns the names for columns without a table: those with a `$table` in the mappings of any
    /// target.
    pub fn short_names(all: &Value) -> BTreeSet<Arc<str>> {
        let levels = all.as_object().into_iter().flatten();
        let tables = levels
            .filter_map(|(_, tables)| tables.as_object())
            .flatten();
        let short = tables.filter(|(_, names)| names.get("$table").is_some());
        short
            .filter_map(|(name, _)| name.as_str().map(Arc::from))
            .collect()
    }

    pub(super) fn place(&self, column: &Column) -> ColumnName {
        let name = |table: &str, key: &str| self.0.get(table)?.get(key)?.as_str();
        let Some(own) = column.table.as_deref() else {
            let own = &*column.name;
            return match name(own, "$table") {
                Some(table) => ColumnName {
                    table: parts(name(table, "$self").unwrap_or(table)),
                    column: name(table, own).unwrap_or(own).to_owned(),
                },
                None => ColumnName {
                    table: Vec::new(),
                    column: name(own, "$self").unwrap_or(own).to_owned(),
                },
            };
        };
        let named = name(own, &column.name);
        let table = name(own, "$table");
        let other = table.unwrap_or(own);
        let named = named.or_else(|| name(other, &column.name));
        let table = match name(other, "$self").or(table) {
            Some(table) => parts(table),
            None => vec![own.to_owned()],
        };
        ColumnName {
            table,
            column: named.unwrap_or(&column.name).to_owned(),
        }
    }
}

/// Splits the name of a table into schema and table at the dots.
fn parts(name: &str) -> Vec<String> {
    name.split('.').map(str::to_owned).collect()
}

impl ColumnName {
    /// Returns the name as the `field` of a UCAST condition.
    pub(super) fn field(&self) -> String {
        let mut names = self.table.clone();
        names.push(self.column.clone());
        names.join(".")
    }
}
