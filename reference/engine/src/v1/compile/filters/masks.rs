//! Column masks of a filter.

use rego::filter::{FilterAnnotations, rule_path};
use rego::{Query, Value};

use super::options::FilterOptions;
use crate::errors;
use crate::evaluate::RequestEvaluation;
use http_server::ApiError;

/// Evaluates the mask rule; absent if no rule is named, or its result is undefined, null or empty.
///
/// # Errors
/// `invalid_parameter` when the rule's name cannot be parsed, `evaluation_error` when there is no
/// such rule or its result is not an object, `internal_error` when its evaluation fails.
pub(super) fn masks(
    evaluation: &RequestEvaluation<'_>,
    input: Option<&Value>,
    options: &FilterOptions,
    declared: &FilterAnnotations,
) -> Result<Option<Value>, ApiError> {
    let path = match (&options.mask_rule, &declared.mask_rule) {
        (Some(name), _) => rule_path(name, &declared.package).ok_or_else(|| {
            ApiError::invalid_parameter(format!(
                "invalid `maskRule` {name}: expected a reference to a rule"
            ))
        })?,
        (None, Some(path)) => path.clone(),
        (None, None) => return Ok(None),
    };
    let steps = path.iter().map(Value::to_string).collect::<Vec<_>>();
    let refused = |what: &str| errors::mask_rule(&steps.join("/"), what);
    let state = evaluation.state;
    if !state.knows(&path) {
        return Err(refused("there is no such rule"));
    }
    let policy = &state.contents().policy;
    let query = Query::document(policy, &path).map_err(|errors| errors::module(&errors))?;
    let (masks, _) = evaluation.run(input, None, |evaluation| query.decide(evaluation))?;
    match masks {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(masks)) if masks.is_empty() => Ok(None),
        Some(masks @ Value::Object(_)) => Ok(Some(masks)),
        Some(other) => Err(refused(&format!("expected object, got {}", other.kind()))),
    }
}
