//! Bounded walks through directories.

use std::sync::atomic::{AtomicBool, Ordering};

use super::BuildError;

/// Counter of the entries that one walk visits. Links, and folders that occur in many places, can
/// make the walk of a few files endless.
#[derive(Debug)]
pub(super) struct Steps<'c> {
    remaining: usize,
    cancelled: &'c AtomicBool,
}

impl<'c> Steps<'c> {
    /// Limits a walk to a number of entries, until it is cancelled.
    pub(super) fn new(entries: usize, cancelled: &'c AtomicBool) -> Self {
        Self {
            remaining: entries,
            cancelled,
        }
    }

    /// Counts an entry.
    ///
    /// # Errors
    /// When there were too many, or the walk is cancelled.
    pub(super) fn count(&mut self) -> Result<(), BuildError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(BuildError::sync("nobody waits for the files any more"));
        }
        let remaining = self.remaining.checked_sub(1);
        self.remaining =
            remaining.ok_or_else(|| BuildError::sync("there are too many files to look at"))?;
        Ok(())
    }
}
