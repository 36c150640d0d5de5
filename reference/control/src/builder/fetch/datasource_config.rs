//! Config of a datasource.

use serde_json::{Map, Value};

use super::BuildError;

/// Config of a datasource.
pub(super) struct Config<'d>(&'d Map<String, Value>);

impl<'d> Config<'d> {
    pub(super) fn new(members: &'d Map<String, Value>) -> Self {
        Self(members)
    }

    /// Returns a string member; empty if absent.
    ///
    /// # Errors
    /// When it is not a string.
    pub(super) fn text(&self, name: &str) -> Result<&'d str, BuildError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(BuildError::config(format!(
                "config.{name} must be a string"
            ))),
        }
    }

    /// Returns a required string member.
    ///
    /// # Errors
    /// When it is absent, empty or not a string.
    pub(super) fn required(&self, name: &str) -> Result<&'d str, BuildError> {
        match self.text(name)? {
            "" => Err(BuildError::config(format!("config.{name} is required"))),
            text => Ok(text),
        }
    }

    /// Returns the members of an object of strings.
    ///
    /// # Errors
    /// When it is anything else.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<(&'d str, &'d str)>, BuildError> {
        let refused = || BuildError::config(format!("config.{name} must be an object of strings"));
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(members)) => members
                .iter()
                .map(|(key, value)| Ok((key.as_str(), value.as_str().ok_or_else(refused)?)))
                .collect(),
            Some(_) => Err(refused()),
        }
    }
}
