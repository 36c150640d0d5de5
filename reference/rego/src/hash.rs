//! Unordered maps and sets.

use foldhash::fast::RandomState;

/// A hash map. A short name is hashed in a fraction of the time that the standard library's maps
/// take; a seed per process makes colliding names unpredictable.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A hash set with the same hasher.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;
