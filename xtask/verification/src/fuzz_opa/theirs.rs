//! Evaluation by OPA.

use std::error::Error;

use rego::Value;
use rego::value::from_json;
use serde_json::json;

use super::{Outcome, ordered};
use crate::servers::{Client, RestartingOpa};

/// Running OPA, with the base documents of generated policies.
pub(super) struct Opa(RestartingOpa);

impl Opa {
    /// Builds and starts OPA.
    ///
    /// # Errors
    /// When OPA cannot be built or does not respond.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        // OPA compiles `print` only if its log level includes it.
        let documents = Some(rego_generate::documents());
        RestartingOpa::start(&["--log-level", "info"], documents).map(Self)
    }

    /// Writes a module; returns none if OPA panics.
    ///
    /// # Errors
    /// When OPA cannot be restarted.
    pub(super) fn put(&mut self, module: &str) -> Result<Option<Outcome>, Box<dyn Error>> {
        self.answer(&Client::request("PUT", "/v1/policies/m.rego", module))
    }

    /// Evaluates a query on the last module; returns none if OPA panics.
    ///
    /// # Errors
    /// When the input is not JSON, or OPA cannot be restarted.
    pub(super) fn evaluate(
        &mut self,
        query: &str,
        input: &str,
    ) -> Result<Option<Outcome>, Box<dyn Error>> {
        let input: serde_json::Value = serde_json::from_str(input)?;
        let body = json!({"query": query, "input": input}).to_string();
        self.answer(&Client::request("POST", "/v1/query", &body))
    }

    /// Sends a request; returns the result, the errors, or the message of a response without a list
    /// of errors; or none if OPA panics.
    fn answer(&mut self, request: &[u8]) -> Result<Option<Outcome>, Box<dyn Error>> {
        let Some(status) = self.0.exchange(request)? else {
            return Ok(None);
        };
        let answer = from_json(self.0.body())?;
        if status == 200 {
            let result = answer.get("result").cloned();
            let result = result.unwrap_or_else(|| Value::from(Vec::new()));
            return Ok(Some(Ok(result.to_string())));
        }
        let Some(errors) = answer.get("errors").and_then(Value::as_array) else {
            return Ok(Some(Err(vec![text(&answer, "message").to_owned()])));
        };
        Ok(Some(Err(ordered(errors.iter().map(mistake).collect()))))
    }
}

fn mistake(error: &Value) -> String {
    let number = |name: &str| {
        let at = error.get("location")?;
        Some(at.get(name)?.to_string())
    };
    let at = match (number("row"), number("col")) {
        (Some(row), Some(col)) => format!("{row}:{col}"),
        _ => "-".to_owned(),
    };
    let details = match error.get("details") {
        Some(details) => format!(" {}", undescribed(details)),
        None => String::new(),
    };
    let message = text(error, "message");
    format!("{} {at} {message}{details}", text(error, "code"))
}

/// Removes the descriptions of built-in functions' operands from the details.
fn undescribed(details: &Value) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                members.remove("description");
                members.values_mut().for_each(strip);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut details = serde_json::from_str(&details.to_string()).unwrap_or_default();
    strip(&mut details);
    details
}

fn text<'v>(of: &'v Value, name: &str) -> &'v str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}
