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
use crate::http::Request;

/// What a request asks of an evaluation beside its query.
#[derive(Debug)]
pub(super) struct EvalOptions<'r> {
    /// The input document.
    pub(super) input: Option<&'r Value>,
    /// Whether a failing call of a built-in function is an error.
    pub(super) strict: bool,
    /// What is kept of the trace.
    pub(super) explain: Option<Explain>,
    /// The request, which may be given up.
    pub(super) request: &'r Request,
    /// If present, takes what is told of the evaluation.
    pub(super) noted: Option<&'r RefCell<Noted>>,
}

impl<'r> EvalOptions<'r> {
    /// Asks for nothing more than answers.
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
    /// All answers of a query, and what explains them if that was asked for.
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

    /// What an evaluation gives, and what explains it if that was asked for.
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

    /// The document at a path, and what explains it if that was asked for.
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

    /// The document at any path, for this server's own use and for answers without an envelope.
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

    /// The query of a request for a decision, compiled if it is not cached.
    ///
    /// # Errors
    /// When it has to be compiled in an inline attempt, which is abandoned.
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
