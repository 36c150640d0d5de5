//! Locking of mutexes.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Acquires a lock; a poisoned one is still valid, because its data is never half-written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
