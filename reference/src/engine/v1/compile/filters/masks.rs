//! The masks of columns, which a rule gives.

use rego::filter::{Declared, rule_path};
use rego::{Answer, Query, Value};

use super::asked::Asked;
use crate::engine::state::State;
use crate::engine::{Engine, evaluate, refusal};
use crate::http::{ApiError, Code, Request};

/// What the mask rule gives for the input; absent if no rule is named, or it gives nothing.
///
/// # Errors
/// `invalid_parameter` when the rule's name cannot be parsed, `evaluation_error` when there is no
/// such rule or it gives something else than an object, `internal_error` when its evaluation
/// fails.
pub(super) fn masks(
    engine: &Engine,
    state: &State,
    request: &Request,
    asked: &Asked,
    declared: &Declared,
) -> Result<Option<Value>, ApiError> {
    let path = match (&asked.mask_rule, &declared.mask_rule) {
        (Some(name), _) => rule_path(name, &declared.package).ok_or_else(|| {
            ApiError::invalid_parameter(format!("`maskRule` is no reference to a rule: {name}"))
        })?,
        (None, Some(path)) => path.clone(),
        (None, None) => return Ok(None),
    };
    let steps = path.iter().map(Value::to_string).collect::<Vec<_>>();
    let refused = |what: &str| {
        let message = format!("mask rule {}: {what}", steps.join("/"));
        ApiError::new(Code::EvaluationError, message)
    };
    if !state.knows(&path) {
        return Err(refused("there is no such rule"));
    }
    let policy = &state.contents().policy;
    let query = Query::document(policy, &path).map_err(|errors| refusal::module(&errors))?;
    let plainly = evaluate::Asked::plainly(request, asked.input.as_ref());
    let (mut answers, _) = engine.evaluate(state, &query, &plainly)?;
    match answers.pop().and_then(Answer::into_document) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(masks)) if masks.is_empty() => Ok(None),
        Some(masks @ Value::Object(_)) => Ok(Some(masks)),
        Some(other) => Err(refused(&format!("expected object, got {}", other.kind()))),
    }
}
