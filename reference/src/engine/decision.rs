//! Decisions, as they are made, logged and answered.

use std::sync::Arc;

use rego::error::EvalCode;
use rego::value::Object;
use rego::{EvalError, Value};

use crate::http::Request;
use crate::http::request::Abandoned;

/// What is decided about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'s> {
    /// The document at a path.
    Path(&'s [String]),
    /// An ad hoc query.
    Query(&'s str),
    /// The rows that the rule at a path selects, with what the log says of the request for them.
    Filter(&'s [String], &'s Value),
}

/// A decision, for whoever logs it and whoever answers with it.
#[derive(Debug)]
pub(super) struct Decision {
    /// What tells it from others. Only one that is logged has it.
    pub(super) id: Option<String>,
    /// What tells the batch that it belongs to from others, if it belongs to one.
    pub(super) batch_id: Option<Arc<str>>,
    /// The input document.
    pub(super) input: Option<Value>,
    /// What was decided, or why nothing was.
    pub(super) outcome: Result<Outcome, DecisionError>,
    /// What is told of the evaluation, if it is logged, or the request asks for the labels.
    pub(super) noted: Option<Noted>,
    /// What was measured, if anything was.
    pub(super) metrics: Option<Value>,
    /// Whether the request asks for the measurements.
    pub(super) shows_metrics: bool,
    /// Whether the request asks for the labels of the rules that had an answer.
    pub(super) shows_rule_labels: bool,
}

/// What is told of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// What non-deterministic functions answered.
    pub(super) calls: Object,
    /// The labels of the rules that had an answer.
    pub(super) rule_labels: Vec<Value>,
}

/// What an evaluation gave.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The document, or the answers of a query. Absent if there is none.
    pub(super) result: Option<Value>,
    /// What explains it, if that was asked for.
    pub(super) explanation: Option<Value>,
}

/// Why there is no decision.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecisionError {
    /// The evaluation failed.
    #[error("{}", .0.message)]
    Evaluation(EvalError),
    /// There is no document where one has to be.
    #[error("no document at `{0}`")]
    Undefined(String),
    /// An inline attempt was abandoned.
    #[error("the inline attempt was abandoned")]
    Abandoned,
}

impl DecisionError {
    /// A failed evaluation for a request. An inline attempt that takes too long is abandoned.
    pub(super) fn of(request: &Request, error: EvalError) -> Self {
        match (error.code, &request.inline_attempt) {
            (EvalCode::Trial, Some(attempt)) => {
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
    /// The members that every envelope has.
    ///
    /// # Errors
    /// When there is no decision.
    pub(super) fn into_envelope(self) -> Result<Object, DecisionError> {
        let Outcome {
            result,
            explanation,
        } = self.outcome?;
        let metrics = self.metrics.filter(|_| self.shows_metrics);
        let labels = self.noted.filter(|_| self.shows_rule_labels);
        let labels = labels.map(|noted| noted.rule_labels).unwrap_or_default();
        let labels = (!labels.is_empty()).then(|| Value::from(labels));
        let mut envelope = Object::new();
        for (name, member) in [
            ("explanation", explanation),
            ("result", result),
            ("metrics", metrics),
            ("rule_labels", labels),
        ] {
            if let Some(member) = member {
                envelope.insert(name, member);
            }
        }
        Ok(envelope)
    }
}
