//! Entries of the queue.

use std::collections::VecDeque;

use bytes::Bytes;

/// Queued event: its number, and its encoding in JSON.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Sequence number of the event; later ones are larger.
    pub(super) number: u64,
    pub(super) event: Bytes,
}

/// Returns the first entries of at most `bytes` bytes together, at least one if there is any.
pub(super) fn fitting(entries: &VecDeque<Entry>, bytes: usize) -> Vec<Entry> {
    let mut sum = 0_usize;
    let selected = entries.iter().take_while(|entry| {
        let first = sum == 0;
        sum = sum.saturating_add(entry.event.len());
        first || sum <= bytes
    });
    selected.cloned().collect()
}
