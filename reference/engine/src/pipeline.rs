//! Decision pipeline: four steps from a request to the envelope of its response.
//!
//! 1. [`prepare`] finds the query of the path in the cache, or compiles it.
//! 2. [`Pipeline::evaluate_document`] and its variants evaluate it.
//! 3. [`Pipeline::log`] masks the decision, and appends it to the decision log.
//! 4. [`Pipeline::into_document_envelope`] builds the envelope.

use rego::value::Object;
use rego::{PartialOptions, PartialQuery, Query, Residual, Value};

use super::decision::{Captured, Decision, DecisionError, Outcome, Subject};
use super::evaluate::RequestEvaluation;
use super::metrics::Metrics;
use super::plugins::{Entry, Unlogged};
use super::provenance::provenance;
use super::query_cache::{CacheEntry, Snapshot};
use super::state::{Prepared, State};
use super::{Engine, random_id};
use http_server::Request;
use http_server::request::Abandoned;

/// Decision in the pipeline: its context, and its record, which the steps complete.
#[derive(Debug)]
pub(super) struct Pipeline<'p> {
    engine: &'p Engine,
    /// Evaluation of its query.
    pub(super) evaluation: RequestEvaluation<'p>,
    /// Metrics measured so far.
    pub(super) metrics: Metrics,
    /// Record of the decision: undefined until the evaluation.
    pub(super) decision: Decision,
}

/// Whether the decision on a request is logged. If so, it is measured, too.
///
/// # Errors
/// When logging was enabled after an inline attempt began, which must not have side effects.
pub(super) fn is_logged(
    engine: &Engine,
    request: &Request,
    metrics: &mut Metrics,
) -> Result<bool, Abandoned> {
    let is_logged = engine.logs_decisions();
    if is_logged {
        request.leave_inline_attempt()?;
        metrics.measure();
    }
    Ok(is_logged)
}

/// Query of the path of a request from a snapshot of the cache, compiled if it is missing.
///
/// # Errors
/// When an inline attempt would have to compile it.
pub(super) fn prepare<'k>(
    state: &State,
    snapshot: &'k Snapshot<Prepared>,
    request: &Request,
    metrics: &mut Metrics,
) -> Result<CacheEntry<'k, Prepared>, Abandoned> {
    let hits = "counter_server_query_cache_hit";
    metrics.count(hits, 1);
    let (cache, key) = (state.decisions(&request.method), request.path.cache_key());
    cache.get_or_compile(snapshot, key, request, || {
        metrics.count(hits, 0);
        let stage = "timer_compile_stage_resolve_path_ns";
        let steps = metrics.stage(stage, || state.resolve(request.path.open()));
        let prepared = metrics.time("timer_rego_query_compile_ns", || state.prepare(&steps));
        let stage = "timer_query_compile_stage_all_ns";
        metrics.also(stage, "timer_rego_query_compile_ns");
        Ok(prepared)
    })
}

impl<'p> Pipeline<'p> {
    /// Creates a decision without an input, which is logged if it `is_logged`.
    pub(super) fn new(
        engine: &'p Engine,
        state: &'p State,
        request: &'p Request,
        is_logged: bool,
        metrics: Metrics,
    ) -> Self {
        let shows_rule_labels = request.flag("rule_labels");
        Self {
            engine,
            evaluation: RequestEvaluation::explained(state, request),
            decision: Decision {
                id: is_logged.then(random_id::random),
                batch_id: None,
                input: None,
                outcome: Ok(Outcome::default()),
                noted: (is_logged || shows_rule_labels).then(Captured::default),
                metrics: None,
                shows_metrics: metrics.is_requested(),
                shows_rule_labels,
            },
            metrics,
        }
    }

    /// Evaluates the document at a path.
    pub(super) fn evaluate_document(&mut self, prepared: &Prepared, path: &[String]) {
        let (input, noted) = self.decision.input_and_noted();
        let outcome = self.metrics.time("timer_rego_query_eval_ns", || {
            self.evaluation.document(prepared, path, input, noted)
        });
        self.complete(outcome);
    }

    /// Evaluates an ad hoc query.
    pub(super) fn evaluate_query(&mut self, query: &Query) {
        let (input, noted) = self.decision.input_and_noted();
        let outcome = self.metrics.time("timer_rego_query_eval_ns", || {
            self.evaluation.solutions(query, input, noted)
        });
        self.complete(outcome);
    }

    /// Evaluates a partial query. Returns the residual, and the explanation if requested; the
    /// caller completes the decision.
    ///
    /// # Errors
    /// When the evaluation fails, or is an inline attempt that takes too long.
    pub(super) fn evaluate_partially(
        &mut self,
        query: &PartialQuery,
        options: &PartialOptions,
    ) -> Result<(Residual, Option<Value>), DecisionError> {
        let (input, noted) = self.decision.input_and_noted();
        self.metrics.time("timer_rego_partial_eval_ns", || {
            let evaluation = &self.evaluation;
            evaluation.run(input, noted, |evaluation| {
                query.evaluate(evaluation, options)
            })
        })
    }

    /// Completes the record with the outcome, and with the metrics if they are logged or shown.
    pub(super) fn complete(&mut self, outcome: Result<Outcome, DecisionError>) {
        let decision = &mut self.decision;
        decision.outcome = outcome;
        let is_measured = decision.id.is_some() || decision.shows_metrics;
        decision.metrics = is_measured.then(|| self.metrics.finish());
    }

    /// Logs the decision, if decisions are logged.
    ///
    /// # Errors
    /// When the decision cannot be buffered for upload, but must be logged as configured.
    pub(super) fn log(&self, subject: Subject<'_>) -> Result<(), Unlogged> {
        let RequestEvaluation { state, request, .. } = self.evaluation;
        let decision = &self.decision;
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
        let engine = self.engine;
        engine.plugins().log(&engine.config(), state, &entry)
    }

    /// Envelope of a document: the common members, the id of the decision and, if requested, the
    /// provenance.
    ///
    /// # Errors
    /// When the decision failed.
    pub(super) fn into_document_envelope(mut self) -> Result<Object, DecisionError> {
        let RequestEvaluation { state, request, .. } = self.evaluation;
        let id = self.decision.id.take();
        // Rule labels are shown only if there is a document.
        self.decision.shows_rule_labels &=
            matches!(&self.decision.outcome, Ok(found) if found.result.is_some());
        let mut envelope = self.into_envelope()?;
        if let Some(id) = id {
            envelope.insert("decision_id", Value::from(id));
        }
        if request.flag("provenance") {
            envelope.insert("provenance", provenance(&state.contents().bundles));
        }
        Ok(envelope)
    }

    /// Envelope with the members that are common to all decisions.
    ///
    /// # Errors
    /// When the decision failed.
    pub(super) fn into_envelope(self) -> Result<Object, DecisionError> {
        let decision = self.decision;
        let Outcome {
            result,
            explanation,
        } = decision.outcome?;
        let metrics = decision.metrics.filter(|_| decision.shows_metrics);
        let labels = decision.noted.filter(|_| decision.shows_rule_labels);
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
