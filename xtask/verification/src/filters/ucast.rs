//! Evaluation of UCAST conditions on rows.

use rego::Value;

use super::names::{self, Schema};
use super::rows::Row;

/// Whether a row satisfies a UCAST condition.
pub(super) fn holds(query: &Value, row: &Row, schema: Schema) -> Result<bool, String> {
    if query.as_object().is_some_and(rego::value::Object::is_empty) {
        return Ok(true);
    }
    let text = |name: &str| query.get(name).and_then(Value::as_str);
    let value = query.get("value").ok_or("`value` is missing")?;
    let operator = text("operator").ok_or("`operator` is missing")?;
    match text("type") {
        Some("compound") => {
            let parts = value
                .as_array()
                .ok_or("invalid `value`: expected an array")?;
            let parts = parts.iter().map(|part| holds(part, row, schema));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            match (operator, parts.as_slice()) {
                ("and", parts) => Ok(parts.iter().all(|holds| *holds)),
                ("or", parts) => Ok(parts.iter().any(|holds| *holds)),
                ("not", [holds]) => Ok(!holds),
                _ => Err(format!("unknown compound {operator}")),
            }
        }
        Some("field") => {
            let field = text("field").ok_or("`field` is missing")?;
            let left = column(field, row, schema)?;
            match value.get("field").and_then(Value::as_str) {
                Some(other) => compare(&left, operator, &column(other, row, schema)?),
                None => compare(&left, operator, value),
            }
        }
        _ => Err("unknown type".to_owned()),
    }
}

fn column(field: &str, row: &Row, schema: Schema) -> Result<Value, String> {
    let known = names::fields(row, schema);
    let value = known.into_iter().find(|(name, _)| name == field);
    value
        .map(|(_, value)| value.clone())
        .ok_or_else(|| format!("no column {field}"))
}

fn compare(left: &Value, operator: &str, right: &Value) -> Result<bool, String> {
    let texts = || Some((left.as_str()?, right.as_str()?));
    Ok(match operator {
        "eq" => left == right,
        "ne" => left != right,
        "lt" => left < right,
        "lte" => left <= right,
        "gt" => left > right,
        "gte" => left >= right,
        "in" => right.as_array().is_some_and(|items| items.contains(left)),
        "startswith" => texts().is_some_and(|(text, part)| text.starts_with(part)),
        "endswith" => texts().is_some_and(|(text, part)| text.ends_with(part)),
        "contains" => texts().is_some_and(|(text, part)| text.contains(part)),
        _ => return Err(format!("unknown operator {operator}")),
    })
}
