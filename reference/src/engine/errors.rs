//! Error responses of the engine.

use rego::error::EvalCode;
use rego::filter::Unsupported;
use rego::value::NotMeasured;
use rego::{Errors, EvalError};

use super::StoreError;
use super::active_bundles::OwnedByBundle;
use super::decision::DecisionError;
use super::plugins::Unlogged;
use crate::diagnostic;
use crate::http::request::Abandoned;
use crate::http::{ApiError, Code};

/// The message of every evaluation that failed.
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

/// `undefined_document` when there is no document, `unavailable` when there was no memory left,
/// `internal_error` when the evaluation failed.
impl From<Abandoned> for ApiError {
    fn from(abandoned: Abandoned) -> Self {
        DecisionError::from(abandoned).into()
    }
}

impl From<DecisionError> for ApiError {
    fn from(error: DecisionError) -> Self {
        match error {
            DecisionError::Undefined(_) => Self::new(Code::UndefinedDocument, error.to_string()),
            DecisionError::Abandoned => Self::new(Code::InternalError, error.to_string()),
            DecisionError::Evaluation(failure) => evaluation(failure),
        }
    }
}

/// The decision log has no room, and is configured to take every decision.
impl From<Unlogged> for ApiError {
    fn from(error: Unlogged) -> Self {
        Self::new(Code::Unavailable, error.to_string())
    }
}

/// 500: an evaluation that failed; 503 if there was no memory left for it.
fn evaluation(error: EvalError) -> ApiError {
    match error.code {
        EvalCode::Memory => ApiError::new(Code::Unavailable, error.message),
        _ => ApiError {
            errors: vec![diagnostic::evaluation(&error)],
            ..ApiError::new(Code::InternalError, EVALUATION)
        },
    }
}

/// The same of an input of a batch, in EOPA's words: one message, without places. Its virtual
/// machine has one of its own for members of objects.
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

/// 500: an input of a batch that has taken as long as one evaluation may.
pub(super) fn batch_timeout() -> ApiError {
    ApiError::new(
        Code::InternalError,
        "the batch took too long before its turn",
    )
}

/// 500: a response of a batch that cannot be written.
pub(super) fn unmeasured(why: &NotMeasured) -> ApiError {
    ApiError::new(Code::InternalError, why.to_string())
}

/// 400: a module that cannot be compiled. Of one without any statement the message says so.
pub(super) fn module(errors: &Errors) -> ApiError {
    if let [only] = errors.0.as_slice()
        && only.location.as_ref().is_some_and(|at| at.row == 0)
    {
        return ApiError::invalid_parameter(only.to_string());
    }
    language("error(s) occurred while compiling module(s)", errors)
}

/// 400: a text that is no module.
pub(super) fn unparsed_module(errors: &Errors) -> ApiError {
    let told = module(errors);
    match told.errors.is_empty() {
        true => told,
        false => ApiError {
            message: "error(s) occurred while parsing module(s)".to_owned(),
            ..told
        },
    }
}

/// 400: modules that cannot be compiled without the one that is to be removed.
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

/// 404: a document was written where a rule defines one.
pub(super) fn rule_conflict(errors: &Errors) -> ApiError {
    ApiError::new(Code::ResourceConflict, errors.to_string())
}

/// 400: a document was patched where a rule defines one.
pub(super) fn rule_conflict_of_patch(errors: &Errors) -> ApiError {
    ApiError::invalid_parameter(errors.to_string())
}

/// 500: a query without any statement.
pub(super) fn empty_query() -> ApiError {
    ApiError::new(Code::InternalError, "cannot evaluate empty query")
}

/// 400: a query that cannot be parsed; 500 for a statement that is no query.
pub(super) fn unparsed(errors: &Errors) -> ApiError {
    if let [only] = errors.0.as_slice()
        && only.location.is_none()
    {
        return ApiError::new(Code::InternalError, only.message.clone());
    }
    language("error(s) occurred while parsing query", errors)
}

/// 400: a query of the Compile API that cannot be parsed, or a statement that is none.
pub(super) fn unparsed_residual(errors: &Errors) -> ApiError {
    match errors.0.as_slice() {
        [only] if only.location.is_none() => {
            let message = format!("error(s) occurred while parsing query: {}", only.message);
            ApiError::invalid_parameter(message)
        }
        _ => unparsed(errors),
    }
}

/// 400: a query that cannot be compiled.
pub(super) fn uncompiled(errors: &Errors) -> ApiError {
    language("error(s) occurred while compiling query", errors)
}

/// 400: what is named as unknown and is no reference.
pub(super) fn unknowns(errors: &Errors) -> ApiError {
    ApiError::invalid_parameter(format!(
        "error(s) occurred while parsing unknowns: {errors}"
    ))
}

/// 500: what is not to be inlined and is no reference.
pub(super) fn disable_inlining(errors: &Errors) -> ApiError {
    ApiError::new(Code::InternalError, format!("`disableInlining`: {errors}"))
}

/// 400: a rule that is no filter.
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

/// 406: the request accepts no form of the answer.
pub(super) fn not_acceptable(message: String) -> ApiError {
    ApiError::new(Code::NotAcceptable, message)
}

/// 500: the configuration has nobody told about the state of the engine.
pub(super) fn status_disabled() -> ApiError {
    ApiError::new(Code::InternalError, "the status plugin is not enabled")
}

/// 401: the authorization policy says no.
pub(super) fn unauthorized(reason: Option<&str>) -> ApiError {
    let reason = reason.unwrap_or("request rejected by administrative policy");
    ApiError::new(Code::Unauthorized, reason)
}

/// 500: the authorization policy says nothing.
pub(super) fn undecided(message: &str) -> ApiError {
    ApiError::new(Code::InternalError, message)
}

/// 500: nobody waits for the answer any more.
pub(super) fn cancelled() -> ApiError {
    ApiError::new(Code::InternalError, "cancelled")
}

fn language(message: &str, errors: &Errors) -> ApiError {
    ApiError {
        errors: errors.0.iter().map(diagnostic::language).collect(),
        ..ApiError::invalid_parameter(message)
    }
}
