//! POST /v1/compile/{path}

use std::sync::Arc;

use http::StatusCode;
use rego::filter::{self, Filter, FilterAnnotations, Target, Unsupported};
use rego::value::Object;
use rego::{Hint, PartialOptions, PartialQuery, QueryOptions, References, Residual, Value};

use super::accept::{Accepted, accepted};
use super::masks::masks;
use super::options::{FilterOptions, references};
use crate::decision::{Decision, DecisionError, Noted, Outcome, Subject};
use crate::inline_policy::InlinePolicy;
use crate::metrics::Metrics;
use crate::plugins::Unlogged;
use crate::state::{PreparedFilter, State};
use crate::{Engine, errors, random_id};
use bundle::diagnostic::location;
use http_server::{ApiError, Reply, Request};

/// Translates the rule at the path into a condition on rows, in the language that `Accept` names,
/// with column masks: `result` has no `query` if no row can match, and an empty one if every row
/// matches. `hints` suggest corrections for undefined references whose names resemble an unknown.
///
/// # Errors
/// `invalid_parameter` when a header, option or unknown is invalid; `not_acceptable` when `Accept`
/// names no target; `resource_not_found` when there is no such rule; `evaluation_error` when the
/// rule is not a condition on columns, or the target does not support it; `internal_error` when the
/// evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let logged = engine.logs_decisions();
    let mut metrics = Metrics::of_decision(request);
    if logged {
        // Logging is a side effect, which inline attempts must not have.
        request.leave_inline_attempt()?;
        metrics.measure();
    }
    let accepted = accepted(request, engine.vendors())?;
    let mut options = FilterOptions::read(request, accepted.target.is_none())?;
    options.known_columns = Arc::clone(engine.known_columns());
    match accepted.target {
        Some(target) => options.targets = vec![target],
        None if options.targets.is_empty() => {
            let message = "an answer for several targets needs `targetDialects`";
            return Err(ApiError::invalid_parameter(message));
        }
        None => {}
    }
    let state = engine.state();
    let timer = "timer_compile_extract_annotations_unknowns_ns";
    let snapshot = state.filters.snapshot();
    let prepared = metrics.time(timer, || {
        let (cache, key) = (&state.filters, request.path.cache_key());
        cache.get_or_compile(&snapshot, key, request, || compile(&state, request))
    })?;
    let filter = FilterRequest {
        engine,
        state: &state,
        request,
        options: &options,
        accepted: &accepted,
        logged,
    };
    let latency = &prepared.latency;
    latency.of(request, || filter.answer(&prepared, metrics))
}

/// Prepares the rule that a request names.
fn compile(state: &State, request: &Request) -> Result<PreparedFilter, ApiError> {
    let path = state.resolve(request.path.open());
    let declared = declared(state, &path)?;
    let policy = &state.contents().policy;
    let query = PartialQuery::compile(policy, filter::query(&path), &QueryOptions::default());
    Ok(PreparedFilter {
        input_references: policy.input_references(&path),
        declared,
        query: query.map_err(|errors| errors::module(&errors))?,
        latency: InlinePolicy::default(),
    })
}

/// Parsed filter request.
#[derive(Clone, Copy)]
struct FilterRequest<'r> {
    engine: &'r Engine,
    state: &'r State,
    request: &'r Request,
    options: &'r FilterOptions,
    accepted: &'r Accepted,
    logged: bool,
}

impl FilterRequest<'_> {
    /// Translates a prepared rule, logs the filter, and returns the response.
    fn answer(self, prepared: &PreparedFilter, mut metrics: Metrics) -> Result<Reply, ApiError> {
        let PreparedFilter {
            declared,
            query,
            input_references,
            ..
        } = prepared;
        let unknowns = self.unknowns(declared)?;
        let timer = "timer_rego_partial_eval_ns";
        let (residual, calls) = metrics.time(timer, || self.residual(query, &unknowns))?;
        let timer = "timer_compile_eval_constraints_ns";
        let filter = metrics.time(timer, || self.filter(&residual));
        let filter = filter.map_err(|refusals| errors::filter(&refusals))?;
        let timer = "timer_compile_eval_mask_rule_ns";
        let masks = metrics.time(timer, || {
            masks(
                self.engine,
                self.state,
                self.request,
                self.options,
                declared,
            )
        })?;
        let timer = "timer_compile_translate_queries_ns";
        let result = metrics.time(timer, || match self.accepted.target {
            Some(target) => translate(&filter, target, self.options, masks.as_ref()),
            None => translate_all(&filter, self.options, masks.as_ref()),
        })?;
        let (result, shown) = (Value::from(result), metrics.is_shown());
        let metrics = (shown || self.logged).then(|| metrics.finish());
        if self.logged {
            self.log(declared, &result, calls, metrics.as_ref())?;
        }
        let mut envelope = Object::new();
        envelope.insert("result", result);
        let hints = input_references.hints(&unknowns, self.options.input.as_ref());
        if !hints.is_empty() {
            envelope.insert(
                "hints",
                hints.iter().map(hint_json).collect::<Vec<_>>().into(),
            );
        }
        if let Some(metrics) = metrics.filter(|_| shown) {
            envelope.insert("metrics", metrics);
        }
        let pretty = self.request.flag("pretty");
        let answer = Reply::document(StatusCode::OK, &Value::from(envelope), pretty);
        Ok(answer.with_type(&self.accepted.media_type))
    }

    /// Logs the filter.
    fn log(
        self,
        declared: &FilterAnnotations,
        result: &Value,
        calls: Option<Object>,
        metrics: Option<&Value>,
    ) -> Result<(), Unlogged> {
        let path = self.request.path.open().to_vec();
        let decision = Decision {
            id: Some(random_id::random()),
            batch_id: None,
            input: self.options.input.clone(),
            outcome: Ok(Outcome {
                result: Some(result.clone()),
                explanation: None,
            }),
            noted: calls.map(|calls| Noted {
                calls,
                ..Noted::default()
            }),
            metrics: metrics.cloned(),
            shows_metrics: false,
            shows_rule_labels: false,
        };
        let asked = self.options.for_the_log(declared);
        let subject = Subject::Filter(&path, &asked);
        self.engine
            .log(self.state, self.request, subject, &decision)
    }

    /// Unknowns of the request, or else of the policy.
    fn unknowns(self, declared: &FilterAnnotations) -> Result<References, ApiError> {
        match &self.options.unknowns {
            Some(unknowns) => Ok(unknowns.clone()),
            None => {
                let texts = declared.unknowns.iter().map(String::as_str);
                references(&texts.collect::<Vec<_>>())
            }
        }
    }

    /// Residual of the rule with unknown columns, and, if the request is logged, the results of
    /// non-deterministic functions.
    fn residual(
        self,
        query: &PartialQuery,
        unknowns: &References,
    ) -> Result<(Residual, Option<Object>), ApiError> {
        let options = PartialOptions {
            unknowns: unknowns.clone(),
            disable_inlining: self.options.disable_inlining.clone(),
            // Databases cannot evaluate them.
            nondeterministic_builtins: true,
        };
        let host = self.state.host_for(self.request);
        let mut evaluation = self.state.evaluation_for(self.request, &host);
        evaluation.input = self.options.input.clone();
        evaluation.calls = self.logged.then(Object::new);
        let residual = query.evaluate(&mut evaluation, &options);
        let residual = residual.map_err(|error| DecisionError::of(self.request, error))?;
        Ok((residual, evaluation.calls.take()))
    }

    /// Condition on columns, if all targets support it.
    fn filter(self, residual: &Residual) -> Result<Filter, Vec<Unsupported>> {
        let short_names = self.options.short_names();
        let filter = Filter::of(&residual.queries, &residual.support, &short_names)?;
        filter.check(&self.options.targets)?;
        Ok(filter)
    }
}

/// Hint in the format of the response.
fn hint_json(hint: &Hint) -> Value {
    Value::object([
        ("message", Value::from(hint.message.as_str())),
        ("location", location(&hint.location)),
    ])
}

/// Annotations of the rule at the path; the default for a document without rules.
fn declared(state: &State, path: &[Value]) -> Result<FilterAnnotations, ApiError> {
    let declared = state.contents().policy.filter_rule(path);
    let declared = declared.map_err(|refusals| errors::filter(&refusals))?;
    if declared.is_none() && !state.knows(path) {
        let steps = path.iter().map(Value::to_string).collect::<Vec<_>>();
        return Err(errors::no_rule(&steps.join("/")));
    }
    Ok(declared.unwrap_or_default())
}

/// Object with the filter for one target as `query`, and the masks.
fn translate(
    filter: &Filter,
    target: Target,
    options: &FilterOptions,
    masks: Option<&Value>,
) -> Result<Object, ApiError> {
    let mappings = options.mappings(target)?;
    let query = match target {
        Target::Ucast(_) => filter.to_ucast(&mappings),
        Target::Sql(dialect) => filter
            .to_sql(dialect, &mappings, options.column_types(target)?.as_ref())
            .map_err(|refusal| errors::filter(&[refusal]))?
            .map(Value::from),
    };
    let mut result = Object::new();
    if let Some(query) = query {
        result.insert("query", query);
        if let Some(masks) = masks {
            result.insert("masks", masks.clone());
        }
    }
    Ok(result)
}

/// Object with the filter for each target; of several UCAST variants only for the first.
fn translate_all(
    filter: &Filter,
    options: &FilterOptions,
    masks: Option<&Value>,
) -> Result<Object, ApiError> {
    let mut result = Object::new();
    for target in &options.targets {
        let key = match target {
            Target::Ucast(_) => target.language(),
            Target::Sql(_) => target.dialect(),
        };
        if result.contains_key(key) {
            continue;
        }
        let translated = translate(filter, *target, options, masks)?;
        if !translated.is_empty() {
            result.insert(key, translated.into());
        }
    }
    Ok(result)
}
