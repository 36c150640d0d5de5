//! Group commit: synchronises many records with the disk at once.

use std::sync::OnceLock;

/// Records that are synchronised together.
#[derive(Debug, Default)]
pub(super) struct CommitGroup(OnceLock<bool>);

impl CommitGroup {
    /// Sets whether the records survive a crash from now on. Only the first call counts.
    pub(super) fn finish(&self, synced: bool) {
        self.0.set(synced).ok();
    }

    /// Whether the records survive a crash, if that is known already.
    pub(super) fn outcome(&self) -> Option<bool> {
        self.0.get().copied()
    }
}
