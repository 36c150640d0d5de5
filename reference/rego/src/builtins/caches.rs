//! Caches shared between evaluations.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache_limits::CacheLimits;
use super::fifo::Fifo;
#[cfg(feature = "http")]
use super::http::Responses;
use crate::value::Text;

/// Name of the kind of prepared values under which schemas are cached.
pub(super) const GRAPHQL: &str = "graphql";

/// Name of the kind of prepared values under which the keys that a caller trusts are cached.
pub(super) const KEYS: &str = "io.jwt";

/// Maximum length in bytes of a string whose prepared value is cached.
const MAX_TEXT: usize = 1 << 20;

/// Approximate memory limit in bytes for the prepared values of one cache.
const MAX_MADE: usize = 64 << 20;

/// A value that a function prepared from an operand.
pub(super) type Cached = Arc<dyn Any + Send + Sync>;

/// Caches shared by evaluations. Each evicts its oldest entry when there is no room for a new one.
#[derive(Debug)]
pub struct Caches {
    #[cfg(feature = "http")]
    pub(super) responses: Mutex<Responses>,
    /// Prepared values, by the name of their kind and the source string.
    patterns: Mutex<Fifo<(&'static str, Text), Cached>>,
    graphql: Mutex<Fifo<(&'static str, Text), Cached>>,
    keys: Mutex<Fifo<(&'static str, Text), Cached>>,
}

impl Default for Caches {
    fn default() -> Self {
        Self::new(&CacheLimits::default())
    }
}

impl Caches {
    /// Creates empty caches.
    pub fn new(limits: &CacheLimits) -> Self {
        Self {
            #[cfg(feature = "http")]
            responses: Mutex::new(Responses::new(limits)),
            patterns: Mutex::new(Fifo::new(MAX_MADE).at_most(limits.patterns)),
            graphql: Mutex::new(Fifo::new(MAX_MADE).at_most(limits.graphql)),
            keys: Mutex::new(Fifo::new(MAX_MADE).at_most(limits.keys)),
        }
    }

    /// Replaces the limits and evicts the entries beyond them.
    pub fn limit(&self, limits: &CacheLimits) {
        #[cfg(feature = "http")]
        lock(&self.responses).limit(limits);
        for (cache, limit) in [
            (&self.patterns, limits.patterns),
            (&self.graphql, limits.graphql),
            (&self.keys, limits.keys),
        ] {
            lock(cache).limit_entries(limit);
        }
    }

    /// Returns the value prepared from a string, if it is still cached.
    pub(super) fn get(&self, kind: &'static str, text: &Text) -> Option<Cached> {
        lock(self.of(kind)).get(&(kind, text.clone())).cloned()
    }

    /// Caches the value prepared from a string.
    pub(super) fn insert(&self, kind: &'static str, text: &Text, value: Cached, bytes: usize) {
        if text.len() <= MAX_TEXT {
            lock(self.of(kind)).put((kind, text.clone()), value, bytes);
        }
    }

    fn of(&self, kind: &str) -> &Mutex<Fifo<(&'static str, Text), Cached>> {
        match kind {
            #[cfg(feature = "graphql")]
            GRAPHQL => &self.graphql,
            #[cfg(feature = "crypto")]
            KEYS => &self.keys,
            _ => &self.patterns,
        }
    }
}

/// Locks a mutex even if it is poisoned: a panic never leaves a change here incomplete.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_limit() {
        let limits = CacheLimits {
            patterns: 2,
            graphql: 1,
            keys: 0,
            ..CacheLimits::default()
        };
        let caches = Caches::new(&limits);
        let texts = ["a", "b", "c"].map(Text::from);
        for (kind, expected) in [
            ("regex", [false, true, true]),
            (GRAPHQL, [false, false, true]),
            (KEYS, [false; 3]),
        ] {
            for text in &texts {
                caches.insert(kind, text, Arc::new(()), 1);
            }
            let found = texts
                .each_ref()
                .map(|text| caches.get(kind, text).is_some());
            assert_eq!(found, expected, "{kind}");
        }
        assert!(caches.get("glob", &Text::from("c")).is_none());
    }

    #[test]
    fn large_patterns_make_room_for_each_other() {
        let caches = Caches::default();
        let texts = ["a", "b", "c"].map(Text::from);
        for text in &texts {
            caches.insert("regex", text, Arc::new(()), MAX_MADE / 2);
        }
        let found = texts.map(|text| caches.get("regex", &text).is_some());
        assert_eq!(found, [false, true, true]);
    }
}
