//! Caches shared between evaluations.

use std::any::Any;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(feature = "http")]
use super::http::Responses;
use crate::hash::HashMap;
use crate::value::Text;

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

/// Limits of [`Caches`]. A limit of 0 disables the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheLimits {
    /// Approximate memory in bytes for responses to `http.send`.
    pub response_bytes: usize,
    /// Interval at which stale responses are removed when the cache is used; if absent, a stale
    /// response remains until the same request is sent again.
    pub stale_period: Option<Duration>,
    /// Maximum number of patterns and JSON schemas.
    pub patterns: usize,
    /// Maximum number of GraphQL schemas.
    pub graphql: usize,
    /// Maximum number of certificates and JSON Web Key sets.
    pub keys: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            response_bytes: 64 << 20,
            stale_period: None,
            patterns: 100,
            graphql: 10,
            keys: 100,
        }
    }
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
    pub(super) fn made(&self, kind: &'static str, text: &Text) -> Option<Cached> {
        lock(self.of(kind)).get(&(kind, text.clone())).cloned()
    }

    /// Caches the value prepared from a string.
    pub(super) fn keep(&self, kind: &'static str, text: &Text, made: Cached, bytes: usize) {
        if text.len() <= MAX_TEXT {
            lock(self.of(kind)).put((kind, text.clone()), made, bytes);
        }
    }

    fn of(&self, kind: &str) -> &Mutex<Fifo<(&'static str, Text), Cached>> {
        match kind {
            #[cfg(feature = "graphql")]
            super::graphql::KIND => &self.graphql,
            #[cfg(feature = "crypto")]
            super::jwt::KEYS => &self.keys,
            _ => &self.patterns,
        }
    }
}

/// Locks a mutex even if it is poisoned: a panic never leaves a change here incomplete.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// FIFO cache with a limit on its total size and a limit on its number of entries.
#[derive(Debug)]
pub(super) struct Fifo<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Keys by entry number, the oldest first.
    order: BTreeMap<u64, K>,
    last: u64,
    size: usize,
    limit: usize,
    most: usize,
}

#[derive(Debug)]
struct Entry<V> {
    number: u64,
    size: usize,
    value: V,
}

impl<K: Clone + Eq + Hash, V> Fifo<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::default(),
            order: BTreeMap::new(),
            last: 0,
            size: 0,
            limit,
            most: usize::MAX,
        }
    }

    /// Sets the maximum number of entries.
    fn at_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.size -= entry.size;
            self.order.remove(&entry.number);
        }
    }

    /// Inserts or replaces an entry. An entry larger than the size limit is not stored.
    pub(super) fn put(&mut self, key: K, value: V, size: usize) {
        self.remove(&key);
        if size > self.limit {
            return;
        }
        self.last += 1;
        let number = self.last;
        self.size = self.size.saturating_add(size);
        self.order.insert(number, key.clone());
        let entry = Entry {
            number,
            size,
            value,
        };
        self.entries.insert(key, entry);
        self.shrink();
    }

    pub(super) fn limit(&mut self, limit: usize) {
        self.limit = limit;
        self.shrink();
    }

    fn limit_entries(&mut self, most: usize) {
        self.most = most;
        self.shrink();
    }

    /// Removes the entries whose values do not satisfy the predicate.
    pub(super) fn retain(&mut self, stays: impl Fn(&V) -> bool) {
        let going = self.entries.iter();
        let going = going.filter(|(_, entry)| !stays(&entry.value));
        let going: Vec<K> = going.map(|(key, _)| key.clone()).collect();
        for key in going {
            self.remove(&key);
        }
    }

    fn shrink(&mut self) {
        while (self.size > self.limit || self.entries.len() > self.most)
            && let Some(oldest) = self.order.values().next().cloned()
        {
            self.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let mut fifo = Fifo::new(10);
        let puts = [("a", 4), ("b", 4), ("a", 5), ("c", 11), ("d", 1), ("e", 2)];
        let left = [
            vec!["a"],
            vec!["a", "b"],
            vec!["a", "b"],
            vec!["a", "b"],
            vec!["a", "b", "d"],
            vec!["a", "d", "e"],
        ];
        for ((key, size), left) in puts.into_iter().zip(left) {
            fifo.put(key, size, size);
            let mut keys: Vec<&str> = fifo.entries.keys().copied().collect();
            keys.sort_unstable();
            assert_eq!(keys, left, "after {key}");
            let sizes: usize = fifo.entries.values().map(|entry| entry.value).sum();
            assert_eq!(fifo.size, sizes, "after {key}");
            assert_eq!(fifo.order.len(), keys.len(), "after {key}");
        }
        fifo.limit(3);
        assert_eq!((fifo.get(&"a"), fifo.get(&"d")), (None, Some(&1)));
        fifo.retain(|value| *value > 1);
        assert_eq!((fifo.get(&"d"), fifo.get(&"e")), (None, Some(&2)));
        fifo.limit(0);
        assert_eq!((fifo.size, fifo.entries.len(), fifo.order.len()), (0, 0, 0));
    }

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
        for (kind, kept) in [
            ("regex", [false, true, true]),
            (super::super::graphql::KIND, [false, false, true]),
            (super::super::jwt::KEYS, [false; 3]),
        ] {
            for text in &texts {
                caches.keep(kind, text, Arc::new(()), 1);
            }
            let found = texts
                .each_ref()
                .map(|text| caches.made(kind, text).is_some());
            assert_eq!(found, kept, "{kind}");
        }
        assert!(caches.made("glob", &Text::from("c")).is_none());
    }

    #[test]
    fn large_patterns_make_room_for_each_other() {
        let caches = Caches::default();
        let texts = ["a", "b", "c"].map(Text::from);
        for text in &texts {
            caches.keep("regex", text, Arc::new(()), MAX_MADE / 2);
        }
        let found = texts.map(|text| caches.made("regex", &text).is_some());
        assert_eq!(found, [false, true, true]);
    }
}
