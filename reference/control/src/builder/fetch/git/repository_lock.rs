//! Locks of cached repositories. A cancelled fetch may still run for a while.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::BuildError;

static LOCKED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Exclusive lock on a repository until it is dropped.
#[derive(Debug)]
pub(super) struct RepositoryLock(PathBuf);

/// Locks a repository for this build.
///
/// # Errors
/// When it is in use.
pub(super) fn lock_repository(place: &Path) -> Result<RepositoryLock, BuildError> {
    let mut locked = LOCKED.lock().unwrap_or_else(PoisonError::into_inner);
    match locked.insert(place.to_owned()) {
        true => Ok(RepositoryLock(place.to_owned())),
        false => Err(BuildError::sync("git: an earlier fetch has not ended yet")),
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        let mut locked = LOCKED.lock().unwrap_or_else(PoisonError::into_inner);
        locked.remove(&self.0);
    }
}
