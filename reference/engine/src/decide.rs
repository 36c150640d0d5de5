//! Decision pipeline around an evaluation: id, metrics and log.

use std::cell::RefCell;

use rego::Value;

use super::decision::{Decision, DecisionError, Outcome, Subject};
use super::evaluate::EvalOptions;
use super::explain::Explain;
use super::metrics::Metrics;
use super::plugins::{Entry, Unlogged};
use super::state::State;
use super::{Engine, random_id};
use http_server::Request;

/// Options of a decision, in addition to the document or query that the request asks for.
#[derive(Debug)]
pub(super) struct DecisionRequest<'r> {
    pub(super) request: &'r Request,
    /// Input document.
    pub(super) input: Option<Value>,
    /// Whether a failing call of a built-in function is an error.
    pub(super) strict: bool,
    /// Whether the decision is logged.
    pub(super) logged: bool,
    /// Metrics measured so far.
    pub(super) metrics: Metrics,
}

impl Engine {
    /// Whether decisions are logged.
    pub(super) fn logs_decisions(&self) -> bool {
        self.config().plugins.decision_logs.is_some()
    }

    /// Runs an evaluation, and returns it as a decision with id and metrics.
    pub(super) fn decide(
        &self,
        wanted: DecisionRequest<'_>,
        evaluate: impl FnOnce(&EvalOptions<'_>) -> Result<Outcome, DecisionError>,
    ) -> Decision {
        let DecisionRequest {
            request,
            input,
            strict,
            logged,
            mut metrics,
        } = wanted;
        let shows_rule_labels = request.flag("rule_labels");
        let noted = (logged || shows_rule_labels).then(RefCell::default);
        let options = EvalOptions {
            input: input.as_ref(),
            strict,
            explain: Explain::from_request(request),
            request,
            noted: noted.as_ref(),
        };
        let outcome = metrics.time("timer_rego_query_eval_ns", || evaluate(&options));
        let shows_metrics = metrics.is_shown();
        Decision {
            id: logged.then(random_id::random),
            batch_id: None,
            input,
            outcome,
            noted: noted.map(RefCell::into_inner),
            metrics: (logged || shows_metrics).then(|| metrics.finish()),
            shows_metrics,
            shows_rule_labels,
        }
    }

    /// Logs a decision made on a state, if decisions are logged.
    ///
    /// # Errors
    /// When the decision cannot be buffered for upload, but must be logged as configured.
    pub(super) fn log(
        &self,
        state: &State,
        request: &Request,
        subject: Subject<'_>,
        decision: &Decision,
    ) -> Result<(), Unlogged> {
        let Some(id) = &decision.id else {
            return Ok(());
        };
        let is_only = decision.batch_id.is_none() && !matches!(subject, Subject::Filter(..));
        if let Some(span) = request.span.as_ref().filter(|_| is_only) {
            span.decided(id);
        }
        let entry = Entry {
            id,
            request,
            subject,
            decision,
        };
        self.plugins().log(&self.config(), state, &entry)
    }
}
