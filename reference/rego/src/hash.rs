//! Unordered maps and sets.

use foldhash::fast::RandomState;

/// A hash map. Its hasher needs a fraction of the standard library's time for a short name; a seed
/// per process makes collisions unpredictable.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A hash set with the same hasher.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;
