//! Decisions, for the decision log and the response.

use std::sync::Arc;

use rego::error::EvalCode;
use rego::value::Object;
use rego::{EvalError, Value};

use http_server::Request;
use http_server::request::Abandoned;

/// Subject of a decision.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'s> {
    /// Document at a path.
    Path(&'s [String]),
    /// Ad hoc query.
    Query(&'s str),
    /// Row filter from the rule at a path, with the data of its request that the log records.
    Filter(&'s [String], &'s Value),
}

/// Decision with everything that the log and the response need.
#[derive(Debug)]
pub(super) struct Decision {
    /// Unique id. Only logged decisions have one.
    pub(super) id: Option<String>,
    /// Id of the batch that the decision belongs to, if any.
    pub(super) batch_id: Option<Arc<str>>,
    /// Input document.
    pub(super) input: Option<Value>,
    /// Result or error.
    pub(super) outcome: Result<Outcome, DecisionError>,
    /// Side records of the evaluation, for a logged decision or if rule labels are requested.
    pub(super) noted: Option<Captured>,
    /// Measurements, if any were made.
    pub(super) metrics: Option<Value>,
    /// Whether the response includes the measurements.
    pub(super) shows_metrics: bool,
    /// Whether the response includes the labels of the rules that produced a result.
    pub(super) shows_rule_labels: bool,
}

/// Side records of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Captured {
    /// Results of non-deterministic functions.
    pub(super) calls: Object,
    /// Labels of the rules that produced a result.
    pub(super) rule_labels: Vec<Value>,
}

/// Result of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The document, or the solutions of a query. Absent if undefined.
    pub(super) result: Option<Value>,
    /// Explanation, if requested.
    pub(super) explanation: Option<Value>,
}

/// Error of a failed decision.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecisionError {
    /// The evaluation failed.
    #[error("{}", .0.message)]
    Evaluation(EvalError),
    /// A required document is undefined.
    #[error("no document at `{0}`")]
    Undefined(String),
    /// An inline attempt was abandoned.
    #[error("the inline attempt was abandoned")]
    Abandoned,
}

impl DecisionError {
    /// Converts an evaluation error. An inline attempt that exceeds its limit is abandoned.
    pub(super) fn of(request: &Request, error: EvalError) -> Self {
        match (error.code, &request.inline_attempt) {
            (EvalCode::NotInline, Some(attempt)) => {
                attempt.abandon();
                Self::Abandoned
            }
            _ => Self::Evaluation(error),
        }
    }
}

impl From<Abandoned> for DecisionError {
    fn from(_: Abandoned) -> Self {
        Self::Abandoned
    }
}

impl Decision {
    /// Input document, and the side records that its evaluation completes.
    pub(super) fn input_and_noted(&mut self) -> (Option<&Value>, Option<&mut Captured>) {
        (self.input.as_ref(), self.noted.as_mut())
    }
}
