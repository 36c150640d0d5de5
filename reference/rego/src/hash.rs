//! Maps and sets that are not in order.

use foldhash::fast::RandomState;

/// A map by the hashes of its keys. A short name is hashed in a fraction of the time that the
/// standard library's maps take; the seed of a process keeps names that collide from being known
/// beforehand.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set, in the same way.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;
