//! Group commit: synchronises many records with the disk at once.

use std::sync::OnceLock;

/// Records that are synchronised together.
#[derive(Debug, Default)]
pub(super) struct CommitGroup(OnceLock<bool>);

impl CommitGroup {
    /// Says whether the records survive a crash from now on. What was said first counts.
    pub(super) fn finish(&self, synced: bool) {
        self.0.set(synced).ok();
    }

    /// What was said.
    pub(super) fn outcome(&self) -> Option<bool> {
        self.0.get().copied()
    }
}
