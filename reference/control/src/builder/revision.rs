//! Revisions of bundles.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rego::{Evaluation, Host, Policy, Query, QueryOptions, Value};
use sha2::{Digest, Sha256};

use super::budget::Budget;
use super::{documents, file_selection::Files};

/// Maximum length of a revision, in bytes.
const MAX_REVISION_BYTES: usize = 255;

/// Maximum length of a non-string value converted to JSON, in bytes.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Revision of a bundle: an expression and its input.
#[derive(Debug)]
pub(super) struct Revision {
    /// Rego expression; exactly one.
    pub(super) expression: String,
    /// States of the sources, by their names: `input.sources`.
    pub(super) sources: BTreeMap<String, Origins>,
    /// Environment variables that `opa.runtime` returns.
    pub(super) environment: BTreeMap<String, String>,
}

/// State of a source, which differs for different content.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Commit of the source's repository.
    pub(super) commit: Option<String>,
    /// Hash of the other files of the source: those of its folder, embedded ones and pushed ones.
    pub(super) files: String,
    /// Hashes of fetched documents, by the types and names of datasources.
    pub(super) fetched: BTreeMap<String, BTreeMap<String, String>>,
}

impl Origins {
    fn value(&self) -> Value {
        let hash = |hash: &str| Value::object([("hash", Value::from(hash))]);
        let mut members = vec![("sql", hash(&self.files))];
        if let Some(commit) = &self.commit {
            let commit = Value::from(commit.as_str());
            members.push(("git", Value::object([("commit", commit)])));
        }
        for (kind, hashes) in &self.fetched {
            let hashes = hashes
                .iter()
                .map(|(name, text)| (name.as_str(), hash(text)));
            members.push((kind.as_str(), Value::object(hashes)));
        }
        Value::object(members)
    }
}

impl Revision {
    /// Computes the revision of a bundle whose content has this hash: the value of the expression,
    /// or its JSON if it is not a string. There is no network access.
    ///
    /// # Errors
    /// When the expression or its value is invalid.
    pub(super) fn resolve(
        &self,
        content: &str,
        budget: &Budget,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<String, String> {
        let refused = |reason: String| format!("revision `{}`: {reason}", self.expression);
        let text = self.evaluate(content, budget, cancelled);
        let text = text.map_err(refused)?;
        match text.len() {
            0 => Err(refused("the revision is empty".to_owned())),
            length if length > MAX_REVISION_BYTES => Err(refused(format!(
                "the revision has {length} bytes, and at most {MAX_REVISION_BYTES} are allowed"
            ))),
            // PostgreSQL cannot store one, so not even the result of the build could be recorded.
            _ if text.contains('\0') => {
                Err(refused("a revision cannot hold a NUL character".to_owned()))
            }
            _ => Ok(text),
        }
    }

    fn evaluate(
        &self,
        content: &str,
        budget: &Budget,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<String, String> {
        let body = Query::read(&self.expression).map_err(|errors| errors.to_string())?;
        if body.len() != 1 {
            return Err("it must be one expression".to_owned());
        }
        let query = Query::compile(&Policy::default(), body, &QueryOptions::default());
        let query = query.map_err(|errors| errors.to_string())?;
        let root = documents::root();
        let host = Environment::new(&self.environment);
        let mut evaluation = Evaluation::new(&root);
        let sources = self.sources.iter();
        let sources = sources.map(|(name, origins)| (name.as_str(), origins.value()));
        let bundle = Value::object([("hash", Value::from(content))]);
        evaluation.input = Some(Value::object([
            ("bundle", bundle),
            ("sources", Value::object(sources)),
        ]));
        evaluation.host = Some(&host);
        let answers = budget.evaluate(&query, evaluation, cancelled)?;
        let value = answers.iter().find_map(|answer| answer.values().first());
        match value {
            Some(Value::String(text)) => Ok(text.to_string()),
            Some(other) => {
                let text = budget.text(other, MAX_VALUE_BYTES)?;
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            None => Err(
                "the expression has no value; input.sources has git.commit, sql.hash and \
                 http.NAME.hash of the sources that have them, and opa.runtime().env the \
                 variables that --revision-env names"
                    .to_owned(),
            ),
        }
    }
}

/// Host environment of an expression: some environment variables.
#[derive(Debug)]
struct Environment(Value);

impl Environment {
    fn new(variables: &BTreeMap<String, String>) -> Self {
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
        Self(Value::object([("env", Value::object(variables))]))
    }
}

impl Host for Environment {
    fn runtime(&self) -> Option<Value> {
        Some(self.0.clone())
    }
}

/// Computes the hash of files: of each path, in order, a zero byte, and its content.
pub(super) fn hash(files: &Files) -> String {
    let mut hash = Sha256::new();
    for (path, bytes) in files {
        hash.update(path.as_bytes());
        hash.update([0]);
        hash.update(bytes);
    }
    hex::encode(hash.finalize())
}
