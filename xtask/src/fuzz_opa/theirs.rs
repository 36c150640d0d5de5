//! The side of OPA.

use rego::Value;
use rego::value::from_json;
use serde_json::json;

use super::{Answer, ordered};
use crate::servers::Client;

/// Puts a module.
///
/// # Errors
/// When OPA does not answer.
pub(super) fn put(client: &mut Client, module: &str) -> Result<Answer, String> {
    let request = Client::request("PUT", "/v1/policies/m.rego", module);
    answer(client, &request)
}

/// Asks a query.
///
/// # Errors
/// When OPA does not answer.
pub(super) fn ask(client: &mut Client, query: &str, input: &str) -> Result<Answer, String> {
    let input: serde_json::Value = serde_json::from_str(input).map_err(|why| why.to_string())?;
    let body = json!({"query": query, "input": input}).to_string();
    answer(client, &Client::request("POST", "/v1/query", &body))
}

/// The result, or the mistakes, or the message where there is no list of them.
fn answer(client: &mut Client, request: &[u8]) -> Result<Answer, String> {
    let status = client.exchange(request).map_err(|why| why.to_string())?;
    let answer = from_json(client.body()).map_err(|why| why.to_string())?;
    if status == 200 {
        let result = answer.get("result").cloned();
        return Ok(Ok(result
            .unwrap_or_else(|| Value::from(Vec::new()))
            .to_string()));
    }
    let Some(errors) = answer.get("errors").and_then(Value::as_array) else {
        return Ok(Err(vec![text(&answer, "message").to_owned()]));
    };
    Ok(Err(ordered(errors.iter().map(mistake).collect())))
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

/// The details without the prose about the operands of built-in functions.
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
