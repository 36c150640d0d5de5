//! Prepared-query cache.

use std::ops::Deref;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use rpds::HashTrieMapSync;

use http_server::Request;
use http_server::request::Abandoned;

/// Maximum number of entries of one cache; when it is full, all are removed.
const MAX_ENTRIES: usize = 1024;

/// Maximum bytes of a path or query string that is cached.
const MAX_KEY_LENGTH: usize = 1024;

/// Cache of prepared queries, by path or query string. A lookup takes no lock, and an insertion
/// shares all other entries with the previous snapshot.
#[derive(Debug)]
pub(super) struct QueryCache<T>(ArcSwap<Snapshot<T>>);

/// Snapshot of the entries.
pub(super) type Snapshot<T> = HashTrieMapSync<Arc<str>, Arc<T>>;

/// Result of a lookup that compiles missing entries.
pub(super) enum CacheEntry<'k, T> {
    Hit(&'k T),
    Miss(Arc<T>),
}

impl<T> Deref for CacheEntry<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Hit(entry) => entry,
            Self::Miss(entry) => entry,
        }
    }
}

impl<T> Default for QueryCache<T> {
    fn default() -> Self {
        Self(ArcSwap::default())
    }
}

impl<T> QueryCache<T> {
    /// Entry for a path or query string.
    pub(super) fn get(&self, key: &str) -> Option<Arc<T>> {
        self.snapshot().get(key).cloned()
    }

    /// Snapshot of all entries. Its entries can be borrowed, so that threads that use the same
    /// entry do not contend for its reference count.
    pub(super) fn snapshot(&self) -> Guard<Arc<Snapshot<T>>> {
        self.0.load()
    }

    /// Entry of a snapshot, compiled and inserted if missing.
    ///
    /// # Errors
    /// Compile errors, and [`Abandoned`] if an inline attempt would have to compile.
    pub(super) fn get_or_compile<'k, E: From<Abandoned>>(
        &self,
        snapshot: &'k Snapshot<T>,
        key: &str,
        request: &Request,
        compile: impl FnOnce() -> Result<T, E>,
    ) -> Result<CacheEntry<'k, T>, E> {
        if let Some(entry) = snapshot.get(key) {
            return Ok(CacheEntry::Hit(entry));
        }
        request.leave_inline_attempt()?;
        let entry = Arc::new(compile()?);
        self.put(key, &entry);
        Ok(CacheEntry::Miss(entry))
    }

    /// Inserts an entry, unless its key is too long.
    pub(super) fn put(&self, key: &str, prepared: &Arc<T>) {
        if key.len() > MAX_KEY_LENGTH {
            return;
        }
        let key = Arc::from(key);
        self.0.rcu(|entries| {
            let (key, prepared) = (Arc::clone(&key), Arc::clone(prepared));
            match entries.size() {
                0..MAX_ENTRIES => entries.insert(key, prepared),
                _ => HashTrieMapSync::default().insert(key, prepared),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;

    use super::{Abandoned, MAX_ENTRIES, MAX_KEY_LENGTH, QueryCache, Request};
    use http_server::request::InlineAttempt;

    #[test]
    fn as_many_as_fit_are_cached_unless_they_are_long() {
        let cache = QueryCache::default();
        let put = |key: &str| {
            cache.put(key, &Arc::new(key.len()));
            cache.get(key).map(|length| *length)
        };
        let (short, long) = ("a".repeat(MAX_KEY_LENGTH), "a".repeat(MAX_KEY_LENGTH + 1));
        assert_eq!(put(&short), Some(MAX_KEY_LENGTH));
        assert_eq!(put(&long), None);
        for number in 1..MAX_ENTRIES {
            assert!(put(&number.to_string()).is_some());
        }
        assert!(cache.get(&short).is_some(), "there was room for all");
        assert!(put("one more").is_some());
        assert!(cache.get(&short).is_none(), "all others are removed");
    }

    #[test]
    fn inline_attempts_find_queries_but_do_not_compile_them() {
        let cache = QueryCache::default();
        let is_abandoned = |is_inline: bool| {
            let attempt = Arc::new(InlineAttempt::within(Duration::ZERO));
            let mut request = Request::from(http::Request::new(Bytes::new()));
            request.inline_attempt = is_inline.then(|| Arc::clone(&attempt));
            let snapshot = cache.snapshot();
            let entry = cache.get_or_compile(&snapshot, "a", &request, || Ok::<_, Abandoned>(1));
            assert_eq!(entry.is_err(), attempt.is_abandoned());
            attempt.is_abandoned()
        };
        assert!(is_abandoned(true), "the query is missing");
        assert!(!is_abandoned(false), "the query is compiled");
        assert!(!is_abandoned(true), "the query is found");
    }
}
