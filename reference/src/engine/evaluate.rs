//! Evaluation of queries for requests.

use std::cell::RefCell;
use std::sync::Arc;

use rego::value::Object;
use rego::{Answer, Query, Value};
use tracing::info;

use super::Engine;
use super::explain::Explain;
use super::metrics::Metrics;
use super::refusal;
use super::state::{Prepared, State, shown};
use crate::http::request::Trial;
use crate::http::{ApiError, Code, Request};

/// What a request asks of an evaluation beside its query.
#[derive(Debug)]
pub(super) struct Asked<'r> {
    /// The input document.
    pub(super) input: Option<&'r Value>,
    /// Whether a failing call of a built-in function is an error.
    pub(super) strict: bool,
    /// What is kept of the trace.
    pub(super) explain: Option<Explain>,
    /// The request, which may be given up.
    pub(super) request: &'r Request,
    /// If present, takes what non-deterministic functions answered.
    pub(super) calls: Option<&'r RefCell<Object>>,
}

impl<'r> Asked<'r> {
    /// Asks for nothing more than answers.
    pub(super) fn plainly(request: &'r Request, input: Option<&'r Value>) -> Self {
        Self {
            input,
            strict: false,
            explain: None,
            request,
            calls: None,
        }
    }
}

impl Engine {
    /// All answers of a query, and what explains them if that was asked for.
    ///
    /// # Errors
    /// `internal_error` when the evaluation fails.
    pub(super) fn evaluate(
        &self,
        state: &State,
        query: &Query,
        asked: &Asked<'_>,
    ) -> Result<(Vec<Answer>, Option<Value>), ApiError> {
        let mut recorder = asked.explain.map(Explain::recorder);
        let mut print = |location: &rego::syntax::Location, text: &str| {
            info!(file = &*location.file, row = location.row, "{text}");
        };
        let mut evaluation = state.evaluation_for(asked.request);
        evaluation.input = asked.input.cloned();
        evaluation.strict = asked.strict;
        evaluation.print = Some(&mut print);
        evaluation.tracer = recorder
            .as_mut()
            .map(|recorder| recorder as &mut dyn rego::Tracer);
        evaluation.calls = asked.calls.map(|_| Object::new());
        let answers = query.evaluate(&mut evaluation);
        if let (Some(taken), Some(calls)) = (asked.calls, evaluation.calls.take()) {
            taken.replace(calls);
        }
        let answers = answers.map_err(|error| refusal::ended(asked.request, &error))?;
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
        asked: &Asked<'_>,
    ) -> Result<(Option<Value>, Option<Value>), ApiError> {
        let Some(query) = &prepared.query else {
            return Ok((None, None));
        };
        let evaluate = || self.evaluate(state, query, asked);
        let (mut answers, explanation) = match &asked.request.trial {
            Some(trial) => {
                let evaluated = evaluate();
                prepared.pace.tried(!trial.is_given_up());
                evaluated?
            }
            None => prepared.pace.time(evaluate)?,
        };
        let document = answers.pop().and_then(Answer::into_document);
        let explanation = explanation.filter(|_| {
            let defined = document.is_some();
            asked.explain.is_some_and(|explain| explain.tells(defined))
        });
        Ok((document.map(|document| shown(document, path)), explanation))
    }

    /// The document at any path, for this server's own use and for answers without an envelope.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(super) fn read(
        &self,
        path: &[String],
        asked: &Asked<'_>,
    ) -> Result<Option<Value>, ApiError> {
        let state = self.state();
        if let Some(trial) = &asked.request.trial
            && state.kept_read(path).is_none()
        {
            return Err(given_up(trial));
        }
        let prepared = state.read(path);
        Ok(self.document(&state, &prepared, path, asked)?.0)
    }

    /// The query of a request for a decision, from those that are kept if it is there.
    ///
    /// # Errors
    /// When it has to be compiled in a trial, which is given up.
    pub(super) fn prepared(
        &self,
        state: &State,
        request: &Request,
        metrics: &mut Metrics,
    ) -> Result<Arc<Prepared>, ApiError> {
        let kept = state.decisions(&request.method).get(&request.path);
        metrics.count("counter_server_query_cache_hit", u64::from(kept.is_some()));
        if let (None, Some(trial)) = (&kept, &request.trial) {
            return Err(given_up(trial));
        }
        Ok(kept.unwrap_or_else(|| {
            let stage = "timer_compile_stage_resolve_path_ns";
            let steps = metrics.stage(stage, || state.resolve(&request.segments));
            let prepared = metrics.time("timer_rego_query_compile_ns", || {
                Arc::new(state.prepare(&steps))
            });
            let stage = "timer_query_compile_stage_all_ns";
            metrics.also(stage, "timer_rego_query_compile_ns");
            let decisions = state.decisions(&request.method);
            decisions.put(&request.path, &prepared);
            prepared
        }))
    }
}

/// Gives a trial up that would have to do what may take long.
pub(super) fn given_up(trial: &Trial) -> ApiError {
    trial.give_up();
    ApiError::new(Code::InternalError, "this takes longer than a trial")
}
