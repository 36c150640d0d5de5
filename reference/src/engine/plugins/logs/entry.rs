//! Entries of the queue.

use std::collections::VecDeque;

use bytes::Bytes;

/// An event as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its place among all events; later ones have larger numbers.
    pub(super) number: u64,
    pub(super) event: Bytes,
}

/// The first entries that have at most so many bytes together, at least one if there is any.
pub(super) fn fitting(entries: &VecDeque<Entry>, bytes: usize) -> Vec<Entry> {
    let mut sum = 0_usize;
    let fits = entries.iter().take_while(|entry| {
        let first = sum == 0;
        sum = sum.saturating_add(entry.event.len());
        first || sum <= bytes
    });
    fits.cloned().collect()
}
