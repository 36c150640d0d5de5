//! POST /v1/compile/{path}

use std::sync::Arc;

use http::StatusCode;
use rego::filter::{self, Declared, Filter, Target};
use rego::value::Object;
use rego::{PartialOptions, PartialQuery, QueryOptions, Residual, Value};

use super::accept::{Accepted, accepted};
use super::asked::{Asked, references};
use super::masks::masks;
use crate::engine::metrics::Metrics;
use crate::engine::state::{PreparedFilter, State};
use crate::engine::{Engine, refusal};
use crate::http::{ApiError, Code, Reply, Request};

/// Answers with the condition on rows that the rule at the path comes down to, in the language
/// that `Accept` names, and with the masks of columns: `result` has no `query` if no row can be
/// selected, and an empty one if every row is.
///
/// # Errors
/// `invalid_parameter` when a header, option or unknown cannot be used; `not_acceptable` when
/// `Accept` names no target; `resource_not_found` when there is no such rule; `evaluation_error`
/// when the rule is no condition on columns, or none that the target understands;
/// `internal_error` when the evaluation fails.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_decision(request);
    let accepted = accepted(request, engine.vendor())?;
    let mut asked = Asked::read(request, accepted.target.is_none())?;
    if let Some(target) = accepted.target {
        asked.targets = vec![target];
    }
    let state = engine.state();
    let timer = "timer_compile_extract_annotations_unknowns_ns";
    let prepared = metrics.time(timer, || prepared(&state, request))?;
    let asked = (&asked, &accepted);
    answer(engine, &state, request, asked, &prepared, metrics)
}

/// The rule that a request asks about, from those that are kept if it is there.
fn prepared(state: &State, request: &Request) -> Result<Arc<PreparedFilter>, ApiError> {
    if let Some(kept) = state.filters.get(&request.path) {
        return Ok(kept);
    }
    let segments = request.segments.iter().flat_map(|path| path.split('/'));
    let path = state.resolve(&segments.map(str::to_owned).collect::<Vec<_>>());
    let declared = declared(state, &path)?;
    let policy = &state.contents().policy;
    let query = PartialQuery::compile(policy, filter::query(&path), &QueryOptions::default());
    let prepared = Arc::new(PreparedFilter {
        declared,
        query: query.map_err(|errors| refusal::module(&errors))?,
    });
    state.filters.put(&request.path, &prepared);
    Ok(prepared)
}

/// The filter of a prepared rule, as the request wants it.
fn answer(
    engine: &Engine,
    state: &State,
    request: &Request,
    (asked, accepted): (&Asked, &Accepted),
    prepared: &PreparedFilter,
    mut metrics: Metrics,
) -> Result<Reply, ApiError> {
    let PreparedFilter { declared, query } = prepared;
    let timer = "timer_rego_partial_eval_ns";
    let residual = metrics.time(timer, || residual(state, request, asked, declared, query))?;
    let short_names = asked.short_names();
    let timer = "timer_compile_eval_constraints_ns";
    let filter = metrics.time(timer, || {
        let filter = Filter::of(&residual.queries, &residual.support, &short_names)?;
        filter.check(&asked.targets).map(|()| filter)
    });
    let filter = filter.map_err(|refusals| refusal::filter(&refusals))?;
    let timer = "timer_compile_eval_mask_rule_ns";
    let masks = metrics.time(timer, || masks(engine, state, request, asked, declared))?;
    let timer = "timer_compile_translate_queries_ns";
    let result = metrics.time(timer, || match accepted.target {
        Some(target) => written(&filter, target, asked, masks.as_ref()),
        None => several(&filter, asked, masks.as_ref()),
    })?;
    let mut envelope = Object::new();
    envelope.insert("result", result.into());
    if metrics.asked() {
        envelope.insert("metrics", metrics.finish());
    }
    let pretty = request.flag("pretty");
    let answer = Reply::document(StatusCode::OK, &Value::from(envelope), pretty);
    Ok(answer.with_type(&accepted.media_type))
}

/// What the policy says about the rule at a path, or about the document in its place.
fn declared(state: &State, path: &[Value]) -> Result<Declared, ApiError> {
    let declared = state.contents().policy.filter_rule(path);
    let declared = declared.map_err(|refusals| refusal::filter(&refusals))?;
    if declared.is_none() && !state.knows(path) {
        let steps = path.iter().map(Value::to_string).collect::<Vec<_>>();
        let message = format!("there is no rule at {}", steps.join("/"));
        return Err(ApiError::new(Code::ResourceNotFound, message));
    }
    Ok(declared.unwrap_or_default())
}

/// What is left of the rule when the columns are not known.
fn residual(
    state: &State,
    request: &Request,
    asked: &Asked,
    declared: &Declared,
    query: &PartialQuery,
) -> Result<Residual, ApiError> {
    let unknowns = match &asked.unknowns {
        Some(unknowns) => unknowns.clone(),
        None => {
            let texts = declared.unknowns.iter().map(String::as_str);
            references(&texts.collect::<Vec<_>>())?
        }
    };
    let options = PartialOptions {
        unknowns,
        disable_inlining: asked.disable_inlining.clone(),
        // No database can evaluate them.
        nondeterministic_builtins: true,
    };
    let mut evaluation = state.evaluation_for(request);
    evaluation.input = asked.input.clone();
    query
        .evaluate(&mut evaluation, &options)
        .map_err(|error| refusal::ended(request, &error))
}

/// The filter for one target, `query`, with the masks.
fn written(
    filter: &Filter,
    target: Target,
    asked: &Asked,
    masks: Option<&Value>,
) -> Result<Object, ApiError> {
    let mappings = asked.mappings(target)?;
    let query = match target {
        Target::Ucast(_) => filter.to_ucast(&mappings),
        Target::Sql(dialect) => filter
            .to_sql(dialect, &mappings)
            .map_err(|refusal| refusal::filter(&[refusal]))?
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

/// The filter for each target, UCAST once: for the first of its variants.
fn several(filter: &Filter, asked: &Asked, masks: Option<&Value>) -> Result<Object, ApiError> {
    let mut result = Object::new();
    for target in &asked.targets {
        let key = match target {
            Target::Ucast(_) => target.language(),
            Target::Sql(_) => target.dialect(),
        };
        if result.contains_key(key) {
            continue;
        }
        let written = written(filter, *target, asked, masks)?;
        if !written.is_empty() {
            result.insert(key, written.into());
        }
    }
    Ok(result)
}
