//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panicking thread left is still good: the list is never half-written.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
