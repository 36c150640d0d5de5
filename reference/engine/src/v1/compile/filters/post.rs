//! POST /v1/compile/{path}

use std::sync::Arc;

use http::StatusCode;
use rego::filter::{self, Filter, FilterAnnotations, Target, Unsupported};
use rego::value::Object;
use rego::{Hint, PartialOptions, PartialQuery, QueryOptions, References, Value};

use super::accept::{Accepted, accepted};
use super::masks::masks;
use super::options::{FilterOptions, references};
use crate::decision::{Outcome, Subject};
use crate::inline_policy::InlinePolicy;
use crate::metrics::Metrics;
use crate::pipeline::{Pipeline, is_logged};
use crate::state::{PreparedFilter, State};
use crate::{Engine, errors};
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
    let mut metrics = Metrics::of_decision(request);
    let is_logged = is_logged(engine, request, &mut metrics)?;
    let accepted = accepted(request, engine.vendors())?;
    let mut options = FilterOptions::read(request, accepted.target)?;
    options.known_columns = Arc::clone(engine.known_columns());
    let state = engine.state();
    let mut pipeline = Pipeline::new(engine, &state, request, is_logged, metrics);
    // The envelope of a filter has no explanation.
    pipeline.evaluation.explain = None;
    pipeline.decision.input = options.input.take();
    let (cache, snapshot) = (&state.filters, state.filters.snapshot());
    let timer = "timer_compile_extract_annotations_unknowns_ns";
    let prepared = pipeline.metrics.time(timer, || {
        let key = request.path.cache_key();
        cache.get_or_compile(&snapshot, key, request, || compile(&state, request))
    })?;
    let _measurement = prepared.latency.measure(request);
    answer(pipeline, &prepared, &options, &accepted)
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

/// Translates a prepared rule, logs the filter, and returns the response.
fn answer(
    mut pipeline: Pipeline<'_>,
    prepared: &PreparedFilter,
    options: &FilterOptions,
    accepted: &Accepted,
) -> Result<Reply, ApiError> {
    let declared = &prepared.declared;
    let unknowns = unknowns(options, declared)?;
    let filter = condition(&mut pipeline, &prepared.query, options, &unknowns)?;
    let timer = "timer_compile_eval_mask_rule_ns";
    let masks = pipeline.metrics.time(timer, || {
        let input = pipeline.decision.input.as_ref();
        masks(&pipeline.evaluation, input, options, declared)
    })?;
    let timer = "timer_compile_translate_queries_ns";
    let result = pipeline.metrics.time(timer, || match accepted.target {
        Some(target) => translate(&filter, target, options, masks.as_ref()),
        None => translate_all(&filter, options, masks.as_ref()),
    })?;
    pipeline.complete(Ok(Outcome {
        result: Some(Value::from(result)),
        explanation: None,
    }));
    let request = pipeline.evaluation.request;
    if pipeline.decision.id.is_some() {
        let sent = options.for_the_log(declared);
        pipeline.log(Subject::Filter(request.path.open(), &sent))?;
    }
    let input = pipeline.decision.input.as_ref();
    let hints = prepared.input_references.hints(&unknowns, input);
    let mut envelope = pipeline.into_envelope()?;
    if !hints.is_empty() {
        let hints = hints.iter().map(hint_json).collect::<Vec<_>>();
        envelope.insert("hints", Value::from(hints));
    }
    let (body, pretty) = (Value::from(envelope), request.flag("pretty"));
    Ok(Reply::document(StatusCode::OK, &body, pretty).with_type(&accepted.media_type))
}

/// Unknowns of the request, or else of the policy.
fn unknowns(options: &FilterOptions, declared: &FilterAnnotations) -> Result<References, ApiError> {
    match &options.unknowns {
        Some(unknowns) => Ok(unknowns.clone()),
        None => {
            let texts = declared.unknowns.iter().map(String::as_str);
            references(&texts.collect::<Vec<_>>())
        }
    }
}

/// Condition on the unknown columns under which the rule is satisfied, if all targets support it.
fn condition(
    pipeline: &mut Pipeline<'_>,
    query: &PartialQuery,
    options: &FilterOptions,
    unknowns: &References,
) -> Result<Filter, ApiError> {
    let partial = PartialOptions {
        unknowns: unknowns.clone(),
        disable_inlining: options.disable_inlining.clone(),
        // Calls of these functions are evaluated here, because databases cannot evaluate them.
        nondeterministic_builtins: true,
    };
    let (residual, _) = pipeline.evaluate_partially(query, &partial)?;
    let timer = "timer_compile_eval_constraints_ns";
    let filter = pipeline.metrics.time(timer, || {
        let short_names = options.short_names();
        let filter = Filter::of(&residual.queries, &residual.support, &short_names)?;
        filter.check(&options.targets)?;
        Ok(filter)
    });
    filter.map_err(|unsupported: Vec<Unsupported>| errors::filter(&unsupported))
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
