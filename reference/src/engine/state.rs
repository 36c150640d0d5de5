//! What requests see of the engine: an unchanging state, which writers replace whole.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use http::Method;
use rego::value::Object;
use rego::{Policy, Query, Value};

use super::store;
use crate::http::Request;

/// The queries that are kept; when there are more, all are forgotten.
const KEPT_QUERIES: usize = 1024;

/// Queries with a longer path are not kept.
const KEPT_PATH: usize = 1024;

/// What writers change: the documents and the policies on them.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    /// The root document. INVARIANT: an object.
    pub(super) documents: Value,
    /// The modules, compiled together.
    pub(super) policy: Policy,
}

impl Default for Contents {
    fn default() -> Self {
        Self {
            documents: Value::from(Object::new()),
            policy: Policy::default(),
        }
    }
}

/// The contents at one time, and the queries that were compiled against them.
#[derive(Debug, Default)]
pub(super) struct State {
    contents: Contents,
    gets: Queries,
    posts: Queries,
}

/// Paths as requested, each with the query that asks for its document.
type Queries = RwLock<HashMap<String, Arc<Prepared>>>;

/// A query that is kept.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The query; there is none for a path that cannot have a document.
    pub(super) query: Option<Query>,
    /// Whether it took long when it was last evaluated, or never was.
    pub(super) slow: AtomicBool,
}

impl State {
    pub(super) fn new(contents: Contents) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }

    /// What there is.
    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The root document.
    pub(super) fn documents(&self) -> &Value {
        &self.contents.documents
    }

    /// The kept query of a request for a decision.
    pub(super) fn kept(&self, request: &Request) -> Option<Arc<Prepared>> {
        let queries = self.queries(&request.method).read();
        let queries = queries.unwrap_or_else(PoisonError::into_inner);
        queries.get(&request.path).cloned()
    }

    /// Keeps a query for requests with the same method and path.
    pub(super) fn keep(&self, request: &Request, query: &Arc<Prepared>) {
        if request.path.len() > KEPT_PATH {
            return;
        }
        let queries = self.queries(&request.method).write();
        let mut queries = queries.unwrap_or_else(PoisonError::into_inner);
        if queries.len() >= KEPT_QUERIES {
            queries.clear();
        }
        queries.insert(request.path.clone(), Arc::clone(query));
    }

    fn queries(&self, method: &Method) -> &Queries {
        match *method {
            Method::GET => &self.gets,
            _ => &self.posts,
        }
    }

    /// The steps that the segments of a path mean.
    pub(super) fn resolve(&self, path: &[String]) -> Vec<Value> {
        let mut parent = Some(self.documents());
        let steps = path.iter().map(|segment| {
            let (step, document) = store::resolve(parent, segment);
            parent = document;
            step
        });
        steps.collect()
    }

    /// Whether there is a document at the end of these steps, or rules that may give one.
    pub(super) fn knows(&self, steps: &[Value]) -> bool {
        let rules = self.contents.policy.filter_rule(steps);
        if !matches!(rules, Ok(None)) {
            return true;
        }
        let mut document = Some(self.documents());
        for step in steps {
            document = match document {
                Some(Value::Object(members)) => members.get_value(step),
                _ => None,
            };
        }
        document.is_some()
    }

    /// The query that asks for the document at the end of these steps. There is none where the
    /// policies show that there can be no document.
    pub(super) fn prepare(&self, steps: &[Value]) -> Prepared {
        Prepared {
            query: Query::document(&self.contents.policy, steps).ok(),
            slow: AtomicBool::new(true),
        }
    }
}

/// The document as it is answered: the root without `system`, which is the server's own.
pub(super) fn shown(document: Value, path: &[String]) -> Value {
    let members = match document.as_object() {
        Some(members) if path.is_empty() && members.contains_key("system") => members,
        _ => return document,
    };
    let others = members
        .iter()
        .filter(|(name, _)| name.as_str() != Some("system"));
    let others: Object = others
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::from(others)
}
