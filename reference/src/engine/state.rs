//! What requests see of the engine: an unchanging state, which writers replace whole.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use http::Method;
use rego::Value;
use rego::value::Object;

use super::metrics::Metrics;
use super::store;
use crate::http::Request;

/// The queries that are kept; when there are more, all are forgotten.
const KEPT_QUERIES: usize = 1024;

/// Queries with a longer path are not kept.
const KEPT_PATH: usize = 1024;

/// The root document and the queries that were resolved in it.
#[derive(Debug)]
pub(super) struct State {
    /// INVARIANT: an object.
    documents: Value,
    gets: Queries,
    posts: Queries,
}

/// Paths as requested, each with the document it leads to, if any.
type Queries = RwLock<HashMap<String, Option<Value>>>;

impl State {
    pub(super) fn new(documents: Value) -> Self {
        Self {
            documents,
            gets: Queries::default(),
            posts: Queries::default(),
        }
    }

    /// The root document.
    pub(super) fn documents(&self) -> &Value {
        &self.documents
    }

    /// The document at a path.
    pub(super) fn read(&self, path: &[String]) -> Option<Value> {
        self.find(path).map(shown)
    }

    /// The document at a path, and whether it is the root.
    fn find(&self, path: &[String]) -> Option<(&Value, bool)> {
        store::read(&self.documents, path).map(|found| (found, path.is_empty()))
    }

    /// The document that a request for a decision asks for, from the kept queries if it is there.
    pub(super) fn decide(&self, request: &Request, metrics: &mut Metrics) -> Option<Value> {
        let queries = if request.method == Method::GET {
            &self.gets
        } else {
            &self.posts
        };
        let kept = queries.read().unwrap_or_else(PoisonError::into_inner);
        let hit = kept.get(&request.path).cloned();
        drop(kept);
        metrics.count("counter_server_query_cache_hit", u64::from(hit.is_some()));
        if let Some(found) = hit {
            return metrics.time("timer_rego_query_eval_ns", || found);
        }
        let found = metrics.time("timer_rego_query_compile_ns", || {
            self.find(&request.segments)
        });
        let stage = "timer_query_compile_stage_resolve_refs_ns";
        metrics.stage(stage, "timer_rego_query_compile_ns");
        let found = metrics.time("timer_rego_query_eval_ns", || found.map(shown));
        if request.path.len() > KEPT_PATH {
            return found;
        }
        let mut kept = queries.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_QUERIES {
            kept.clear();
        }
        kept.insert(request.path.clone(), found.clone());
        found
    }
}

/// The document as it is answered: the root without `system`, which is the server's own.
fn shown((document, root): (&Value, bool)) -> Value {
    let members = match document.as_object() {
        Some(members) if root && members.contains_key("system") => members,
        _ => return document.clone(),
    };
    let others = members
        .iter()
        .filter(|(name, _)| name.as_str() != Some("system"));
    let others: Object = others
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::from(others)
}
