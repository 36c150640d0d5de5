//! What requests see of the engine: an unchanging state, which writers replace whole.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use http::Method;
use rego::filter::FilterAnnotations;
use rego::value::Object;
use rego::{Caches, Evaluation, InputReferences, Limits, PartialQuery, Policy, Query, Value};
use rpds::HashTrieMapSync;

use super::active_bundles::Bundles;
use super::latency::Latency;
use super::limits::{self, EvaluationLimits};
use super::store;
use crate::host::System;
use crate::http::Request;

/// The queries that are kept; when there are more, all are forgotten.
const KEPT_QUERIES: usize = 1024;

/// What has a longer path or text, in bytes, is not kept.
const KEPT_LENGTH: usize = 1024;

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
    gets: Kept<Prepared>,
    posts: Kept<Prepared>,
    /// The rules that filters come from.
    pub(super) filters: Kept<PreparedFilter>,
    /// The queries of requests for residuals, by their texts.
    pub(super) residuals: Kept<PartialQuery>,
    /// How long evaluating those took.
    pub(super) residual_latency: Latency,
    /// The queries of policies about the decision log, by their paths.
    pub(super) logs: Kept<Prepared>,
    /// The queries that this server asks for itself, by their paths.
    reads: Kept<Prepared>,
    /// The queries of authorization policies for what they permit, by their paths.
    pub(super) permits: Kept<Vec<PartialQuery>>,
    /// What evaluations leave for each other, whatever the state.
    caches: Arc<Caches>,
    /// What they may use.
    limits: Arc<EvaluationLimits>,
    /// What they see of the world.
    host: Arc<System>,
}

/// The query of a path.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The query; there is none for a path that cannot have a document.
    pub(super) query: Option<Query>,
    /// How long its evaluations took.
    pub(super) latency: Latency,
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
    pub(super) latency: Latency,
}

/// Paths and queries as requested, each with what was prepared for it. Who looks one up locks
/// nothing, and who adds one shares the others with what was there before.
#[derive(Debug)]
pub(super) struct Kept<T>(ArcSwap<Shelf<T>>);

/// What is kept at one time.
pub(super) type Shelf<T> = HashTrieMapSync<Arc<str>, Arc<T>>;

/// Something that is kept, or was made because it is not.
pub(super) enum Found<'k, T> {
    Kept(&'k T),
    Made(Arc<T>),
}

impl<T> Deref for Found<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Kept(kept) => kept,
            Self::Made(made) => made,
        }
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(ArcSwap::default())
    }
}

impl<T> Kept<T> {
    /// What is kept for a path or query.
    pub(super) fn get(&self, asked: &str) -> Option<Arc<T>> {
        self.now().get(asked).cloned()
    }

    /// All that is kept. What is found in it is used without counting that it is: threads that ask
    /// for the same would wait for each other to count.
    pub(super) fn now(&self) -> Guard<Arc<Shelf<T>>> {
        self.0.load()
    }

    /// Keeps something for requests with this path or query.
    pub(super) fn put(&self, asked: &str, prepared: &Arc<T>) {
        if asked.len() > KEPT_LENGTH {
            return;
        }
        let asked = Arc::from(asked);
        self.0.rcu(|kept| {
            let (asked, prepared) = (Arc::clone(&asked), Arc::clone(prepared));
            match kept.size() {
                0..KEPT_QUERIES => kept.insert(asked, prepared),
                _ => HashTrieMapSync::default().insert(asked, prepared),
            }
        });
    }
}

impl State {
    pub(super) fn new(
        contents: Contents,
        caches: Arc<Caches>,
        limits: Arc<EvaluationLimits>,
        host: System,
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
    pub(super) fn telling(&self, host: System) -> Self {
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
        host: &'s System,
    ) -> Evaluation<'s> {
        let limits = match &request.trial {
            Some(trial) => limits::trial(trial.deadline),
            None => self.limits.begin(),
        };
        Evaluation {
            cancelled: Some(Arc::clone(&request.cancelled)),
            ..self.evaluation_within(limits, host)
        }
    }

    /// The system, which tells others on whose behalf it is used if the request has a span.
    pub(super) fn host_for(&self, request: &Request) -> Cow<'_, System> {
        match &request.span {
            Some(span) => Cow::Owned(self.host.traced(span)),
            None => Cow::Borrowed(&self.host),
        }
    }

    /// An evaluation against this state that may use so much, and sees this of the world.
    fn evaluation_within<'s>(&'s self, limits: Limits, host: &'s System) -> Evaluation<'s> {
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
    pub(super) fn decisions(&self, method: &Method) -> &Kept<Prepared> {
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

    /// The query of a path that this server asks for itself, if it is kept.
    pub(super) fn kept_read(&self, path: &[String]) -> Option<Arc<Prepared>> {
        self.reads.get(&path_key(path))
    }

    /// The same, made if it is not kept.
    pub(super) fn read(&self, path: &[String]) -> Arc<Prepared> {
        self.kept_read(path).unwrap_or_else(|| {
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
            latency: Latency::default(),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{KEPT_LENGTH, KEPT_QUERIES, Kept};

    #[test]
    fn as_many_as_fit_are_kept_unless_they_are_long() {
        let kept = Kept::default();
        let put = |asked: &str| {
            kept.put(asked, &Arc::new(asked.len()));
            kept.get(asked).map(|length| *length)
        };
        let (fits, long) = ("a".repeat(KEPT_LENGTH), "a".repeat(KEPT_LENGTH + 1));
        assert_eq!(put(&fits), Some(KEPT_LENGTH));
        assert_eq!(put(&long), None);
        for number in 1..KEPT_QUERIES {
            assert!(put(&number.to_string()).is_some());
        }
        assert!(kept.get(&fits).is_some(), "there was room for all");
        assert!(put("one more").is_some());
        assert!(kept.get(&fits).is_none(), "all others are forgotten");
    }
}
