//! Immutable state of the engine that requests see. Writers replace it as a whole.

use std::borrow::Cow;
use std::sync::Arc;

use http::Method;
use rego::filter::FilterAnnotations;
use rego::value::Object;
use rego::{Caches, Evaluation, InputReferences, Limits, PartialQuery, Policy, Query, Value};

use super::active_bundles::Bundles;
use super::inline_policy::InlinePolicy;
use super::limits::{self, EvaluationLimits};
use super::query_cache::{CacheEntry, QueryCache, Snapshot};
use super::store;
use crate::host::SystemHost;
use http_server::Request;
use http_server::request::Abandoned;

/// Contents that writers change: documents, policies and bundles.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    /// Root document. INVARIANT: an object.
    pub(super) documents: Value,
    /// Modules, compiled together.
    pub(super) policy: Policy,
    /// Active bundles.
    pub(super) bundles: Bundles,
}

impl Default for Contents {
    fn default() -> Self {
        Self {
            documents: Value::from(Object::new()),
            policy: Policy::default(),
            bundles: Bundles::default(),
        }
    }
}

/// Snapshot of the contents, and the queries compiled against them.
#[derive(Debug, Default)]
pub(super) struct State {
    contents: Contents,
    gets: QueryCache<Prepared>,
    posts: QueryCache<Prepared>,
    /// Prepared rules that filters are derived from, by path.
    pub(super) filters: QueryCache<PreparedFilter>,
    /// Queries of residual requests, by query string.
    pub(super) residuals: QueryCache<PartialQuery>,
    /// Latency of evaluating residual queries.
    pub(super) residual_latency: InlinePolicy,
    /// Queries of the mask and drop policies, by path.
    pub(super) logs: QueryCache<Prepared>,
    /// Internal queries of the server, by path.
    pub(super) reads: QueryCache<Prepared>,
    /// Partial queries that are true if the policy at a path permits a request, by path.
    pub(super) permits: QueryCache<Vec<PartialQuery>>,
    /// Caches that evaluations share, independent of the state.
    caches: Arc<Caches>,
    /// Limits of evaluations.
    limits: Arc<EvaluationLimits>,
    /// Host environment of evaluations.
    host: Arc<SystemHost>,
}

/// Prepared query of a path.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The query; absent for a path that cannot have a document.
    pub(super) query: Option<Query>,
    /// Latency of evaluating the query.
    pub(super) latency: InlinePolicy,
}

/// Prepared rule of a path that is translated to a filter.
#[derive(Debug)]
pub(super) struct PreparedFilter {
    /// Annotations of the rule's policy.
    pub(super) declared: FilterAnnotations,
    /// Partial query of the rule.
    pub(super) query: PartialQuery,
    /// Input references of the rule, and of the rules that it reads.
    pub(super) input_references: InputReferences,
    /// Latency of translating the rule.
    pub(super) latency: InlinePolicy,
}

impl State {
    pub(super) fn new(
        contents: Contents,
        caches: Arc<Caches>,
        limits: Arc<EvaluationLimits>,
        host: SystemHost,
    ) -> Self {
        Self {
            contents,
            caches,
            limits,
            host: Arc::new(host),
            ..Self::default()
        }
    }

    /// Successor of this state, with other contents.
    pub(super) fn with(&self, contents: Contents) -> Self {
        Self {
            contents,
            caches: Arc::clone(&self.caches),
            limits: Arc::clone(&self.limits),
            host: Arc::clone(&self.host),
            ..Self::default()
        }
    }

    /// Successor of this state, with another host environment.
    pub(super) fn telling(&self, host: SystemHost) -> Self {
        Self {
            host: Arc::new(host),
            ..self.with(self.contents.clone())
        }
    }

    /// Contents of this state.
    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Evaluation against this state, within the shared limits.
    pub(super) fn evaluation(&self) -> Evaluation<'_> {
        self.evaluation_within(self.limits.begin(), &self.host)
    }

    /// Evaluation for a request, which may be an inline attempt, or be cancelled. `host` is the
    /// result of [`Self::host_for`] for the request.
    pub(super) fn evaluation_for<'s>(
        &'s self,
        request: &Request,
        host: &'s SystemHost,
    ) -> Evaluation<'s> {
        let limits = match &request.inline_attempt {
            Some(attempt) => limits::inline(attempt.deadline),
            None => self.limits.begin(),
        };
        Evaluation {
            cancelled: Some(Arc::clone(&request.cancelled)),
            ..self.evaluation_within(limits, host)
        }
    }

    /// Host environment, which propagates the span of the request if it has one.
    pub(super) fn host_for(&self, request: &Request) -> Cow<'_, SystemHost> {
        match &request.span {
            Some(span) => Cow::Owned(self.host.traced(span)),
            None => Cow::Borrowed(&self.host),
        }
    }

    /// Evaluation against this state with these limits and this host environment.
    fn evaluation_within<'s>(&'s self, limits: Limits, host: &'s SystemHost) -> Evaluation<'s> {
        Evaluation {
            limits,
            host: Some(host),
            caches: Some(&self.caches),
            ..Evaluation::new(self.documents())
        }
    }

    /// Limits of evaluations.
    pub(super) fn limits(&self) -> &Arc<EvaluationLimits> {
        &self.limits
    }

    /// Caches that evaluations share.
    pub(super) fn caches(&self) -> &Arc<Caches> {
        &self.caches
    }

    /// Root document.
    pub(super) fn documents(&self) -> &Value {
        &self.contents.documents
    }

    /// Queries of decision requests with this method.
    pub(super) fn decisions(&self, method: &Method) -> &QueryCache<Prepared> {
        match *method {
            Method::GET => &self.gets,
            _ => &self.posts,
        }
    }

    /// Resolves the segments of a path to steps: member names and integers.
    pub(super) fn resolve(&self, path: &[String]) -> Vec<Value> {
        let mut parent = Some(self.documents());
        let steps = path.iter().map(|segment| {
            let (step, document) = store::resolve(parent, segment);
            parent = document;
            step
        });
        steps.collect()
    }

    /// Cached internal query of a path.
    pub(super) fn cached_read(&self, path: &[String]) -> Option<Arc<Prepared>> {
        self.reads.get(&path_key(path))
    }

    /// Internal query of a path from a snapshot of `reads`, compiled if it is missing.
    ///
    /// # Errors
    /// When an inline attempt would have to compile it.
    pub(super) fn read<'k>(
        &self,
        snapshot: &'k Snapshot<Prepared>,
        path: &[String],
        request: &Request,
    ) -> Result<CacheEntry<'k, Prepared>, Abandoned> {
        let compile = || Ok(self.prepare(&self.resolve(path)));
        self.reads
            .get_or_compile(snapshot, &path_key(path), request, compile)
    }

    /// Whether there is a document at these steps, or rules that may define one.
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

    /// Prepares the query of the document at these steps. It is absent if the policies rule out a
    /// document.
    pub(super) fn prepare(&self, steps: &[Value]) -> Prepared {
        Prepared {
            query: Query::document(&self.contents.policy, steps).ok(),
            latency: InlinePolicy::default(),
        }
    }
}

/// Encodes a path as a unique string.
fn path_key(path: &[String]) -> String {
    let steps = path.iter();
    steps.map(|step| format!("{}:{step}", step.len())).collect()
}

/// Returns the document without the server's own `system` if it is the root.
pub(super) fn without_system(mut document: Value, path: &[String]) -> Value {
    let is_hidden = path.is_empty() && document.get("system").is_some();
    if is_hidden && let Some(members) = document.as_object_mut() {
        members.remove("system");
    }
    document
}
