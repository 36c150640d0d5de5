//! Transform queries on fetched documents.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rego::value::from_json;
use rego::{Compiler, Evaluation, Policy, Query, QueryOptions, Value};

use super::budget::Budget;
use super::file_selection::{self, Files, Kind};
use super::modules::PolicyQuota;
use super::{documents, modules};

/// File and the query whose result replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transform {
    /// Path among the fetched files.
    pub(super) path: String,
    /// Query; the document of the file is its input.
    pub(super) query: String,
}

/// Data and limits of transform queries.
#[derive(Debug)]
pub(super) struct TransformContext<'w> {
    /// Other files of the source of the transformed files.
    pub(super) others: &'w [Files],
    /// Maximum size of all policies, in bytes.
    pub(super) policies: u64,
    /// Maximum size of a result, in bytes.
    pub(super) max_bytes: u64,
    pub(super) budget: &'w Budget,
    pub(super) cancelled: &'w Arc<AtomicBool>,
}

/// Transforms fetched files, one after the other. Queries see the policies and documents of their
/// source, and have no network access.
///
/// # Errors
/// When a query cannot be evaluated; the error names it and the reason.
pub(super) fn run(
    transforms: &[Transform],
    context: &TransformContext<'_>,
    fetched: &mut Files,
) -> Result<(), String> {
    let policy = policy(context)?;
    let max_bytes = usize::try_from(context.max_bytes).unwrap_or(usize::MAX);
    for transform in transforms {
        let refused = |reason: String| format!("transformation of `{}`: {reason}", transform.path);
        let root = root(context.others, fetched).map_err(refused)?;
        let input = fetched.get(&transform.path).map(Vec::as_slice);
        let input =
            from_json(input.unwrap_or_default()).map_err(|reason| refused(reason.to_string()))?;
        let result = evaluate(&policy, &transform.query, context, &root, input).map_err(refused)?;
        let text = context.budget.text(&result, max_bytes).map_err(refused)?;
        // Sets and non-string keys become valid JSON when serialized; numbers that only policies
        // can create do not.
        from_json(&text).map_err(|reason| refused(reason.to_string()))?;
        fetched.insert(transform.path.clone(), text);
    }
    Ok(())
}

/// Returns the result of a query: the only value, or else the array of all values.
fn evaluate(
    policy: &Policy,
    query: &str,
    context: &TransformContext<'_>,
    root: &Value,
    input: Value,
) -> Result<Value, String> {
    let body = Query::read(query).map_err(|errors| errors.to_string())?;
    if body.len() != 1 {
        return Err("the query must be one expression".to_owned());
    }
    let query = Query::compile(policy, body, &QueryOptions::default());
    let query = query.map_err(|errors| errors.to_string())?;
    let mut evaluation = Evaluation::new(root);
    evaluation.input = Some(input);
    let answers = context
        .budget
        .evaluate(&query, evaluation, context.cancelled)?;
    let mut values: Vec<Value> = answers
        .iter()
        .flat_map(|answer| answer.values().iter().cloned())
        .collect();
    match (values.pop(), values.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            values.push(last);
            Ok(Value::from(values))
        }
        (None, _) => Ok(Value::from(values)),
    }
}

/// Compiles the policies of a source.
fn policy(context: &TransformContext<'_>) -> Result<Policy, String> {
    let mut compiler = Compiler::new(&Policy::default());
    let mut quota = PolicyQuota::new(context.policies);
    for (layer, files) in context.others.iter().enumerate() {
        let versions = file_selection::versions(files)?;
        let policies = files
            .iter()
            .filter(|(path, _)| Kind::of(path) == Some(Kind::Policy));
        for (path, bytes) in policies {
            let (module, _) = modules::read(&mut quota, path, bytes, versions.of(path))?;
            compiler = compiler.put(&format!("{layer}/{path}"), module);
        }
    }
    compiler.compile().map_err(|errors| errors.to_string())
}

/// Merges the documents of a source.
fn root(layers: &[Files], fetched: &Files) -> Result<Value, String> {
    let mut root = documents::root();
    for (path, bytes) in layers.iter().chain([fetched]).flatten() {
        let refused = |reason: String| format!("`{path}`: {reason}");
        let Some(kind) = Kind::of(path) else { continue };
        if let Some(document) = documents::read(kind, bytes).map_err(refused)? {
            documents::place(&mut root, &documents::folders(path), document).map_err(refused)?;
        }
    }
    Ok(root)
}
