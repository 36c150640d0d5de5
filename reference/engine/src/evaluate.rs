//! Evaluation of queries for requests.

use rego::syntax::Location;
use rego::value::Object;
use rego::{EvalError, Evaluation, Query, Solution, Value};
use tracing::info;

use super::decision::{Captured, DecisionError, Outcome};
use super::explain::Explain;
use super::state::{Prepared, State, without_system};
use http_server::Request;

/// Evaluation of a query for a request, against one state.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestEvaluation<'r> {
    pub(super) state: &'r State,
    /// The request, which may be cancelled.
    pub(super) request: &'r Request,
    /// Whether a failing call of a built-in function is an error.
    pub(super) strict: bool,
    /// Part of the trace to record for the explanation, if requested.
    pub(super) explain: Option<Explain>,
}

impl<'r> RequestEvaluation<'r> {
    /// Creates an evaluation without an explanation.
    pub(super) fn new(state: &'r State, request: &'r Request) -> Self {
        Self {
            state,
            request,
            strict: false,
            explain: None,
        }
    }

    /// Creates an evaluation with the explanation that the request asks for.
    pub(super) fn explained(state: &'r State, request: &'r Request) -> Self {
        Self {
            explain: Explain::from_request(request),
            ..Self::new(state, request)
        }
    }

    /// Runs the evaluation by `evaluate`; returns the result, and the explanation if requested. `noted`,
    /// if present, receives the side records.
    ///
    /// # Errors
    /// When the evaluation fails, or is an inline attempt that takes too long.
    pub(super) fn run<T>(
        &self,
        input: Option<&Value>,
        noted: Option<&mut Captured>,
        evaluate: impl FnOnce(&mut Evaluation<'_>) -> Result<T, EvalError>,
    ) -> Result<(T, Option<Value>), DecisionError> {
        let mut recorder = self.explain.map(Explain::recorder);
        let mut print = |location: &Location, text: &str| self.print(location, text);
        let host = self.state.host_for(self.request);
        let mut evaluation = self.state.evaluation_for(self.request, &host);
        evaluation.input = input.cloned();
        evaluation.strict = self.strict;
        evaluation.print = Some(&mut print);
        evaluation.tracer = recorder
            .as_mut()
            .map(|recorder| recorder as &mut dyn rego::Tracer);
        if noted.is_some() {
            evaluation.calls = Some(Object::new());
            evaluation.rule_labels = Some(Vec::new());
        }
        let answers = evaluate(&mut evaluation);
        if let Some(noted) = noted {
            noted.calls = evaluation.calls.take().unwrap_or_default();
            noted.rule_labels = evaluation.rule_labels.take().unwrap_or_default();
        }
        let answers = answers.map_err(|error| DecisionError::of(self.request, error))?;
        let explanation = recorder.map(|recorder| recorder.finish());
        Ok((answers, explanation))
    }

    /// Logs a line that a policy prints.
    fn print(&self, location: &Location, text: &str) {
        let line = format!("{}:{}", location.file, location.row);
        let (request, client) = (self.request, self.request.client);
        info!(
            client_addr = client.map(tracing::field::display),
            req_id = request.number.get(),
            req_method = %request.method,
            req_path = %request.path,
            line,
            "{text}"
        );
    }

    /// Evaluates the document at a path, with the explanation if requested.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn document(
        &self,
        prepared: &Prepared,
        path: &[String],
        input: Option<&Value>,
        noted: Option<&mut Captured>,
    ) -> Result<Outcome, DecisionError> {
        let Some(query) = &prepared.query else {
            return Ok(Outcome::default());
        };
        let _measurement = prepared.latency.measure(self.request);
        let (document, explanation) =
            self.run(input, noted, |evaluation| query.decide(evaluation))?;
        let is_shown = |explain: Explain| explain.shows(document.is_some());
        Ok(Outcome {
            explanation: explanation.filter(|_| self.explain.is_some_and(is_shown)),
            result: document.map(|document| without_system(document, path)),
        })
    }

    /// Evaluates a query: the result is the list of all solutions, if there are any.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn solutions(
        &self,
        query: &Query,
        input: Option<&Value>,
        noted: Option<&mut Captured>,
    ) -> Result<Outcome, DecisionError> {
        let (answers, explanation) =
            self.run(input, noted, |evaluation| query.evaluate(evaluation))?;
        let listed: Vec<_> = answers.iter().map(Solution::to_value).collect();
        Ok(Outcome {
            result: (!listed.is_empty()).then(|| Value::from(listed)),
            explanation,
        })
    }

    /// Evaluates the document at any path, for internal use.
    ///
    /// # Errors
    /// As [`Self::run`], and when an inline attempt would have to compile the query.
    pub(super) fn read(
        &self,
        path: &[String],
        input: Option<&Value>,
    ) -> Result<Option<Value>, DecisionError> {
        let snapshot = self.state.reads.snapshot();
        let prepared = self.state.read(&snapshot, path, self.request)?;
        Ok(self.document(&prepared, path, input, None)?.result)
    }
}
