//! Evaluation of queries for requests.

use std::cell::RefCell;

use rego::value::Object;
use rego::{EvalError, Evaluation, Query, Solution, Value};
use tracing::info;

use super::Engine;
use super::decision::{DecisionError, Noted, Outcome};
use super::explain::Explain;
use super::metrics::Metrics;
use super::query_cache::{CacheEntry, Snapshot};
use super::state::{Prepared, State, without_system};
use http_server::Request;

/// Options of an evaluation, in addition to its query.
#[derive(Debug)]
pub(super) struct EvalOptions<'r> {
    /// Input document.
    pub(super) input: Option<&'r Value>,
    /// Whether a failing call of a built-in function is an error.
    pub(super) strict: bool,
    /// Part of the trace to record for the explanation, if requested.
    pub(super) explain: Option<Explain>,
    /// The request, which may be cancelled.
    pub(super) request: &'r Request,
    /// If present, receives the side records of the evaluation.
    pub(super) noted: Option<&'r RefCell<Noted>>,
}

impl<'r> EvalOptions<'r> {
    /// Options for plain results only.
    pub(super) fn plain(request: &'r Request, input: Option<&'r Value>) -> Self {
        Self {
            input,
            strict: false,
            explain: None,
            request,
            noted: None,
        }
    }
}

impl Engine {
    /// Returns all solutions of a query, and the explanation if requested.
    ///
    /// # Errors
    /// When the evaluation fails, or is an inline attempt that takes too long.
    pub(super) fn evaluate(
        &self,
        state: &State,
        query: &Query,
        options: &EvalOptions<'_>,
    ) -> Result<(Vec<Solution>, Option<Value>), DecisionError> {
        self.run(state, options, |evaluation| query.evaluate(evaluation))
    }

    /// Runs an evaluation by `ask`; returns the result, and the explanation if requested.
    fn run<T>(
        &self,
        state: &State,
        options: &EvalOptions<'_>,
        ask: impl FnOnce(&mut Evaluation<'_>) -> Result<T, EvalError>,
    ) -> Result<(T, Option<Value>), DecisionError> {
        let mut recorder = options.explain.map(Explain::recorder);
        let mut print = |location: &rego::syntax::Location, text: &str| {
            let line = format!("{}:{}", location.file, location.row);
            let (request, client) = (options.request, options.request.client);
            info!(
                client_addr = client.map(tracing::field::display),
                req_id = request.number.get(),
                req_method = %request.method,
                req_path = %request.path,
                line,
                "{text}"
            );
        };
        let host = state.host_for(options.request);
        let mut evaluation = state.evaluation_for(options.request, &host);
        evaluation.input = options.input.cloned();
        evaluation.strict = options.strict;
        evaluation.print = Some(&mut print);
        evaluation.tracer = recorder
            .as_mut()
            .map(|recorder| recorder as &mut dyn rego::Tracer);
        evaluation.calls = options.noted.map(|_| Object::new());
        evaluation.rule_labels = options.noted.map(|_| Vec::new());
        let answers = ask(&mut evaluation);
        if let Some(noted) = options.noted {
            noted.replace(Noted {
                calls: evaluation.calls.take().unwrap_or_default(),
                rule_labels: evaluation.rule_labels.take().unwrap_or_default(),
            });
        }
        let answers = answers.map_err(|error| DecisionError::of(options.request, error))?;
        let explanation = recorder.map(|recorder| recorder.finish());
        Ok((answers, explanation))
    }

    /// Evaluates the document at a path, with the explanation if requested.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(super) fn document(
        &self,
        state: &State,
        prepared: &Prepared,
        path: &[String],
        options: &EvalOptions<'_>,
    ) -> Result<Outcome, DecisionError> {
        let Some(query) = &prepared.query else {
            return Ok(Outcome::default());
        };
        let decide = || self.run(state, options, |evaluation| query.decide(evaluation));
        let (document, explanation) = prepared.latency.of(options.request, decide)?;
        let explanation = explanation.filter(|_| {
            let defined = document.is_some();
            options
                .explain
                .is_some_and(|explain| explain.shows(defined))
        });
        Ok(Outcome {
            result: document.map(|document| without_system(document, path)),
            explanation,
        })
    }

    /// Evaluates the document at any path, for internal use and for responses without an envelope.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(super) fn read(
        &self,
        state: &State,
        path: &[String],
        options: &EvalOptions<'_>,
    ) -> Result<Option<Value>, DecisionError> {
        if state.cached_read(path).is_none() {
            options.request.leave_inline_attempt()?;
        }
        let prepared = state.read(path);
        Ok(self.document(state, &prepared, path, options)?.result)
    }

    /// Prepared query of a decision request, compiled if it is not cached.
    ///
    /// # Errors
    /// When an inline attempt would have to compile it; the attempt is abandoned.
    pub(super) fn prepared<'k>(
        &self,
        state: &State,
        snapshot: &'k Snapshot<Prepared>,
        request: &Request,
        metrics: &mut Metrics,
    ) -> Result<CacheEntry<'k, Prepared>, DecisionError> {
        let key = request.path.cache_key();
        let is_hit = snapshot.get(key).is_some();
        metrics.count("counter_server_query_cache_hit", u64::from(is_hit));
        let cache = state.decisions(&request.method);
        cache.get_or_compile(snapshot, key, request, || {
            let stage = "timer_compile_stage_resolve_path_ns";
            let steps = metrics.stage(stage, || state.resolve(request.path.open()));
            let prepared = metrics.time("timer_rego_query_compile_ns", || state.prepare(&steps));
            let stage = "timer_query_compile_stage_all_ns";
            metrics.also(stage, "timer_rego_query_compile_ns");
            Ok(prepared)
        })
    }
}
