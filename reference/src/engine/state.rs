//! The immutable state of the engine that requests see. Writers replace it as a whole.

use std::borrow::Cow;
use std::sync::Arc;

use http::Method;
use rego::filter::FilterAnnotations;
use rego::value::Object;
use rego::{Caches, Evaluation, InputReferences, Limits, PartialQuery, Policy, Query, Value};

use super::active_bundles::Bundles;
use super::inline_policy::InlinePolicy;
use super::limits::{self, EvaluationLimits};
use super::query_cache::QueryCache;
use super::store;
use crate::host::SystemHost;
use crate::http::Request;

/// What writers change: the documents and the policies on them.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    /// The root document. INVARIANT: an object.
    pub(super) documents: Value,
    /// The modules, compiled together.
    pub(super) policy: Policy,
    /// The bundles that are active.
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

/// The contents at one time, and the queries that were compiled against them.
#[derive(Debug, Default)]
pub(super) struct State {
    contents: Contents,
    gets: QueryCache<Prepared>,
    posts: QueryCache<Prepared>,
    /// The rules that filters come from.
    pub(super) filters: QueryCache<PreparedFilter>,
    /// The queries of requests for residuals, by their texts.
    pub(super) residuals: QueryCache<PartialQuery>,
    /// How long evaluating those took.
    pub(super) residual_latency: InlinePolicy,
    /// The queries of policies about the decision log, by their paths.
    pub(super) logs: QueryCache<Prepared>,
    /// The queries that this server asks for itself, by their paths.
    reads: QueryCache<Prepared>,
    /// The queries of authorization policies for what they permit, by their paths.
    pub(super) permits: QueryCache<Vec<PartialQuery>>,
    /// What evaluations leave for each other, whatever the state.
    caches: Arc<Caches>,
    /// What they may use.
    limits: Arc<EvaluationLimits>,
    /// What they see of the world.
    host: Arc<SystemHost>,
}

/// The query of a path.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The query; there is none for a path that cannot have a document.
    pub(super) query: Option<Query>,
    /// How long its evaluations took.
    pub(super) latency: InlinePolicy,
}

/// The rule of a path that is to become a filter.
#[derive(Debug)]
pub(super) struct PreparedFilter {
    /// What its policy says about it.
    pub(super) declared: FilterAnnotations,
    /// The query that asks for it.
    pub(super) query: PartialQuery,
    /// What it and the rules that it reads refer to.
    pub(super) input_references: InputReferences,
    /// How long making filters of it took.
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

    /// The state that follows this one, with other contents.
    pub(super) fn with(&self, contents: Contents) -> Self {
        Self {
            contents,
            caches: Arc::clone(&self.caches),
            limits: Arc::clone(&self.limits),
            host: Arc::clone(&self.host),
            ..Self::default()
        }
    }

    /// The state that follows this one, with another view of the world.
    pub(super) fn telling(&self, host: SystemHost) -> Self {
        Self {
            host: Arc::new(host),
            ..self.with(self.contents.clone())
        }
    }

    /// What there is.
    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// An evaluation against this state, within the limits of all.
    pub(super) fn evaluation(&self) -> Evaluation<'_> {
        self.evaluation_within(self.limits.begin(), &self.host)
    }

    /// The same for a request, which may be tried at once, or given up. It sees what is
    /// [`Self::host_for`] the request.
    pub(super) fn evaluation_for<'s>(
        &'s self,
        request: &Request,
        host: &'s SystemHost,
    ) -> Evaluation<'s> {
        let limits = match &request.inline_attempt {
            Some(attempt) => limits::trial(attempt.deadline),
            None => self.limits.begin(),
        };
        Evaluation {
            cancelled: Some(Arc::clone(&request.cancelled)),
            ..self.evaluation_within(limits, host)
        }
    }

    /// The system, which tells others on whose behalf it is used if the request has a span.
    pub(super) fn host_for(&self, request: &Request) -> Cow<'_, SystemHost> {
        match &request.span {
            Some(span) => Cow::Owned(self.host.traced(span)),
            None => Cow::Borrowed(&self.host),
        }
    }

    /// An evaluation against this state that may use so much, and sees this of the world.
    fn evaluation_within<'s>(&'s self, limits: Limits, host: &'s SystemHost) -> Evaluation<'s> {
        Evaluation {
            limits,
            host: Some(host),
            caches: Some(&self.caches),
            ..Evaluation::new(self.documents())
        }
    }

    /// What evaluations may use.
    pub(super) fn limits(&self) -> &Arc<EvaluationLimits> {
        &self.limits
    }

    /// What evaluations leave for each other.
    pub(super) fn caches(&self) -> &Arc<Caches> {
        &self.caches
    }

    /// The root document.
    pub(super) fn documents(&self) -> &Value {
        &self.contents.documents
    }

    /// The queries of requests for decisions with this method.
    pub(super) fn decisions(&self, method: &Method) -> &QueryCache<Prepared> {
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

    /// The cached query of a path that this server asks for itself.
    pub(super) fn cached_read(&self, path: &[String]) -> Option<Arc<Prepared>> {
        self.reads.get(&path_key(path))
    }

    /// The query of a path that this server asks for itself, compiled if it is not cached.
    pub(super) fn read(&self, path: &[String]) -> Arc<Prepared> {
        self.cached_read(path).unwrap_or_else(|| {
            let prepared = Arc::new(self.prepare(&self.resolve(path)));
            self.reads.put(&path_key(path), &prepared);
            prepared
        })
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
            latency: InlinePolicy::default(),
        }
    }
}

/// A path as a text that no other path has.
fn path_key(path: &[String]) -> String {
    let steps = path.iter();
    steps.map(|step| format!("{}:{step}", step.len())).collect()
}

/// The document as it is answered: the root without `system`, which is the server's own.
pub(super) fn without_system(mut document: Value, path: &[String]) -> Value {
    let is_hidden = path.is_empty() && document.get("system").is_some();
    if is_hidden && let Some(members) = document.as_object_mut() {
        members.remove("system");
    }
    document
}
