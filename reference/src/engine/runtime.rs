//! What `opa.runtime` answers: the process and its configuration.

use rego::Value;
use rego::value::Object;

/// What an engine that was opened with these options tells policies of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Runtime {
    /// Whether a policy decides on each request.
    pub(super) authorizes: bool,
    /// Whether a flag asks that schemas are not looked at.
    pub(super) skips_schema_check: bool,
}

impl Runtime {
    /// The answer with this configuration, which must be without secrets. The variables of the
    /// environment are all there, as in Open Policy Agent.
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
