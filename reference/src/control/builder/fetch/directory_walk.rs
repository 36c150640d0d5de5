//! Bounded walks through directories.

use std::sync::atomic::{AtomicBool, Ordering};

use super::BuildError;

/// Step counter of one walk. Links, and trees that occur in many places, let a few files appear as
/// more than there is time for.
#[derive(Debug)]
pub(super) struct Steps<'c> {
    left: usize,
    cancelled: &'c AtomicBool,
}

impl<'c> Steps<'c> {
    /// Limits a walk to a number of entries, until it is cancelled.
    pub(super) fn new(entries: usize, cancelled: &'c AtomicBool) -> Self {
        Self {
            left: entries,
            cancelled,
        }
    }

    /// Counts an entry.
    ///
    /// # Errors
    /// When there were too many, or the walk is cancelled.
    pub(super) fn take(&mut self) -> Result<(), BuildError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(BuildError::sync("nobody waits for the files any more"));
        }
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| BuildError::sync("there are too many files to look at"))?;
        Ok(())
    }
}
