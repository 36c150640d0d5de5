//! Column types that the operator configures for data filters.

use std::fs;
use std::path::Path;

use rego::Value;
use rego::filter::{ColumnTypes, Target};
use rego::value::{Object, from_yaml};

use http_server::StartError;

/// Column types that filters may rely on, by target.
#[derive(Debug, Default)]
pub(super) struct KnownColumns(Vec<(Target, ColumnTypes)>);

impl KnownColumns {
    /// Reads a JSON or YAML file in the format of `targetSQLColumnTypes` of a request.
    ///
    /// # Errors
    /// When the file cannot be read, or contains anything but column types.
    pub(super) fn read(file: Option<&Path>) -> Result<Self, StartError> {
        let Some(file) = file else {
            return Ok(Self::default());
        };
        let refused = |error: &dyn std::fmt::Display| {
            StartError::new(format!("column types `{}`: {error}", file.display()))
        };
        let text = fs::read(file).map_err(|source| refused(&source))?;
        // JSON is YAML, too.
        let all = match from_yaml(&text).map_err(|source| refused(&source))? {
            Value::Null => Value::from(Object::new()),
            all @ Value::Object(_) => all,
            _ => return Err(refused(&"expected an object of tables and columns")),
        };
        let types = Target::ALL.into_iter().map(|target| {
            let types = ColumnTypes::select(&all, target).map_err(|error| refused(&error))?;
            Ok((target, types))
        });
        types.collect::<Result<_, _>>().map(Self)
    }

    /// Known column types of a target, if any.
    pub(super) fn of(&self, target: Target) -> Option<&ColumnTypes> {
        let known = self.0.iter().find(|(known, _)| *known == target);
        known.map(|(_, types)| types)
    }
}
