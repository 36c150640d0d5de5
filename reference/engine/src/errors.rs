//! Error responses of the engine.

use rego::error::EvalCode;
use rego::filter::Unsupported;
use rego::value::NotMeasured;
use rego::{Errors, EvalError};

use super::StoreError;
use super::active_bundles::OwnedByBundle;
use super::decision::DecisionError;
use super::plugins::Unlogged;
use bundle::diagnostic;
use http_server::{ApiError, Code};

/// Message of every evaluation error.
const EVALUATION: &str = "error(s) occurred while evaluating query";

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NotFound(_) => Code::ResourceNotFound,
            StoreError::Conflict(_) => Code::ResourceConflict,
            StoreError::RootRemoved | StoreError::RootNotObject | StoreError::PathTooLong => {
                Code::InvalidParameter
            }
        };
        Self::new(code, error.to_string())
    }
}

impl From<OwnedByBundle> for ApiError {
    fn from(owned: OwnedByBundle) -> Self {
        Self::invalid_parameter(owned.to_string())
    }
}

/// `undefined_document` when the document is undefined, `unavailable` when memory is exhausted,
/// `internal_error` when the evaluation failed.
impl From<DecisionError> for ApiError {
    fn from(error: DecisionError) -> Self {
        match error {
            DecisionError::Undefined(_) => Self::new(Code::UndefinedDocument, error.to_string()),
            DecisionError::Abandoned => Self::new(Code::InternalError, error.to_string()),
            DecisionError::Evaluation(failure) => evaluation(failure),
        }
    }
}

/// The decision log is full, and is configured to refuse requests then.
impl From<Unlogged> for ApiError {
    fn from(error: Unlogged) -> Self {
        Self::new(Code::Unavailable, error.to_string())
    }
}

/// 500: an evaluation that failed; 503 if memory was exhausted.
fn evaluation(error: EvalError) -> ApiError {
    match error.code {
        EvalCode::Memory => ApiError::new(Code::Unavailable, error.message),
        _ => ApiError {
            errors: vec![diagnostic::evaluation(&error)],
            ..ApiError::new(Code::InternalError, EVALUATION)
        },
    }
}

/// 500: a failed evaluation of a batch input, in EOPA's wording: one message, without locations.
/// EOPA's virtual machine has a different message for duplicate object keys.
pub(super) fn of_batch(error: DecisionError) -> ApiError {
    match error {
        DecisionError::Evaluation(failure) if failure.code != EvalCode::Memory => {
            let message = match failure.message.as_str() {
                "object keys must be unique" => "object insert conflict".to_owned(),
                message => format!("{}: {message}", failure.code.as_str()),
            };
            ApiError::new(Code::InternalError, message)
        }
        error => error.into(),
    }
}

/// 500: a batch input that waited as long as one evaluation may take.
pub(super) fn batch_timeout() -> ApiError {
    ApiError::new(
        Code::InternalError,
        "the time limit of the batch was reached before this input was evaluated",
    )
}

/// 500: a response of a batch that cannot be encoded.
pub(super) fn unmeasured(error: &NotMeasured) -> ApiError {
    ApiError::new(Code::InternalError, error.to_string())
}

/// 400: a module that does not compile. If it has no statements, the message says so.
pub(super) fn module(errors: &Errors) -> ApiError {
    if let [only] = errors.0.as_slice()
        && only.location.as_ref().is_some_and(|at| at.row == 0)
    {
        return ApiError::invalid_parameter(only.to_string());
    }
    language("error(s) occurred while compiling module(s)", errors)
}

/// 400: a source that cannot be parsed as a module.
pub(super) fn unparsed_module(errors: &Errors) -> ApiError {
    let error = module(errors);
    match error.errors.is_empty() {
        true => error,
        false => ApiError {
            message: "error(s) occurred while parsing module(s)".to_owned(),
            ..error
        },
    }
}

/// 400: other modules do not compile without the one to be removed.
pub(super) fn needed_module(errors: &Errors) -> ApiError {
    ApiError {
        code: Code::InvalidOperation,
        ..module(errors)
    }
}

/// 404: no policy has this id.
pub(super) fn no_policy(id: &str) -> ApiError {
    ApiError::new(Code::ResourceNotFound, format!("no policy `{id}`"))
}

/// 404: a document was written at a path that a rule defines.
pub(super) fn rule_conflict(errors: &Errors) -> ApiError {
    ApiError::new(Code::ResourceConflict, errors.to_string())
}

/// 400: a document was patched at a path that a rule defines.
pub(super) fn rule_conflict_of_patch(errors: &Errors) -> ApiError {
    ApiError::invalid_parameter(errors.to_string())
}

/// 500: a query without any statement.
pub(super) fn empty_query() -> ApiError {
    ApiError::new(Code::InternalError, "cannot evaluate empty query")
}

/// 400: a query that cannot be parsed; 500 for a statement that is not a query.
pub(super) fn unparsed(errors: &Errors) -> ApiError {
    if let [only] = errors.0.as_slice()
        && only.location.is_none()
    {
        return ApiError::new(Code::InternalError, only.message.clone());
    }
    language("error(s) occurred while parsing query", errors)
}

/// 400: a query of the Compile API that cannot be parsed, or a statement that is not a query.
pub(super) fn unparsed_residual(errors: &Errors) -> ApiError {
    match errors.0.as_slice() {
        [only] if only.location.is_none() => {
            let message = format!("error(s) occurred while parsing query: {}", only.message);
            ApiError::invalid_parameter(message)
        }
        _ => unparsed(errors),
    }
}

/// 400: a query that does not compile.
pub(super) fn uncompiled(errors: &Errors) -> ApiError {
    language("error(s) occurred while compiling query", errors)
}

/// 400: an unknown that is not a reference.
pub(super) fn unknowns(errors: &Errors) -> ApiError {
    ApiError::invalid_parameter(format!(
        "error(s) occurred while parsing unknowns: {errors}"
    ))
}

/// 500: an item of `disableInlining` that is not a reference.
pub(super) fn disable_inlining(errors: &Errors) -> ApiError {
    ApiError::new(Code::InternalError, format!("`disableInlining`: {errors}"))
}

/// 400: a rule that cannot be translated to a filter.
pub(super) fn filter(refusals: &[Unsupported]) -> ApiError {
    ApiError {
        errors: refusals.iter().map(diagnostic::filter).collect(),
        ..ApiError::new(Code::EvaluationError, EVALUATION)
    }
}

/// 404: no rule is at the path of a filter.
pub(super) fn no_rule(path: &str) -> ApiError {
    ApiError::new(
        Code::ResourceNotFound,
        format!("there is no rule at {path}"),
    )
}

/// 400: the rule that masks columns cannot be used.
pub(super) fn mask_rule(path: &str, reason: &str) -> ApiError {
    let message = format!("mask rule {path}: {reason}");
    ApiError::new(Code::EvaluationError, message)
}

/// 406: the request accepts no available media type.
pub(super) fn not_acceptable(message: String) -> ApiError {
    ApiError::new(Code::NotAcceptable, message)
}

/// 500: status reports are not configured.
pub(super) fn status_disabled() -> ApiError {
    ApiError::new(Code::InternalError, "the status plugin is not enabled")
}

/// 401: the authorization policy denies the request.
pub(super) fn unauthorized(reason: Option<&str>) -> ApiError {
    let reason = reason.unwrap_or("request rejected by administrative policy");
    ApiError::new(Code::Unauthorized, reason)
}

/// 500: the authorization policy is undefined.
pub(super) fn undecided(message: &str) -> ApiError {
    ApiError::new(Code::InternalError, message)
}

/// 500: the request was cancelled.
pub(super) fn cancelled() -> ApiError {
    ApiError::new(Code::InternalError, "cancelled")
}

fn language(message: &str, errors: &Errors) -> ApiError {
    ApiError {
        errors: errors.0.iter().map(diagnostic::language).collect(),
        ..ApiError::invalid_parameter(message)
    }
}
