//! Runtime information for policies: `opa.runtime` and `data.system.version`.

use rego::Value;
use rego::value::Object;

use super::state::Contents;
use super::store::{self, StoreError};

/// Path of the version in the documents.
pub(super) const VERSION_PATH: [&str; 2] = ["system", "version"];

/// Adds the version to the documents, as Open Policy Agent does. Rules at that path take
/// precedence.
///
/// # Errors
/// When the parent is not an object.
pub(super) fn show_version(contents: &mut Contents) -> Result<(), StoreError> {
    let version = Value::object([
        ("build_commit", Value::from("")),
        ("build_hostname", Value::from("")),
        ("build_timestamp", Value::from("")),
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
    ]);
    let steps = VERSION_PATH.map(Value::from);
    match contents.policy.conflicts(&steps, &version) {
        Ok(()) => store::put(
            &mut contents.documents,
            &VERSION_PATH.map(str::to_owned),
            version,
        ),
        Err(_) => Ok(()),
    }
}

/// Options of an engine that `opa.runtime` reports.
#[derive(Debug, Clone, Default)]
pub(super) struct Runtime {
    /// Whether requests are authorized by a policy.
    pub(super) authorizes: bool,
    /// Whether the schema check is disabled by a flag.
    pub(super) skips_schema_check: bool,
}

impl Runtime {
    /// Result of `opa.runtime` with this configuration, which must be without secrets. It includes
    /// all environment variables, as in Open Policy Agent.
    pub(super) fn value(&self, redacted: &Value) -> Value {
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((
                name.into_string().ok()?,
                Value::from(value.into_string().ok()?),
            ))
        });
        Value::object([
            ("authorization_enabled", Value::Bool(self.authorizes)),
            ("commit", Value::from("")),
            ("config", redacted.clone()),
            ("env", Value::from(environment.collect::<Object>())),
            (
                "skip_known_schema_check",
                Value::Bool(self.skips_schema_check),
            ),
            ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        ])
    }
}
