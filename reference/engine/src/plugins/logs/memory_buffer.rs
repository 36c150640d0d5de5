//! Memory buffer of decisions.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::entry::{Entry, fitting};
use crate::config::Upload;

/// Encoded events, oldest first. When the limits are exceeded, the oldest are dropped.
#[derive(Debug, Default)]
pub(super) struct MemoryBuffer(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    events: VecDeque<Entry>,
    /// Bytes of all events.
    bytes: usize,
    /// Number of events ever accepted.
    end: u64,
}

impl MemoryBuffer {
    /// Adds an event; returns the number of dropped events, which may include the new one.
    pub(super) fn put(&self, event: Vec<u8>, limits: &Upload) -> u64 {
        let mut waiting = self.waiting();
        if event.len() > limits.bytes {
            return 1;
        }
        waiting.bytes += event.len();
        let (number, event) = (waiting.end, Bytes::from(event));
        waiting.end += 1;
        waiting.events.push_back(Entry { number, event });
        let mut dropped = 0;
        while waiting.bytes > limits.bytes || waiting.events.len() > limits.events {
            if !waiting.drop_first() {
                break;
            }
            dropped += 1;
        }
        dropped
    }

    /// Returns the oldest events of at most `bytes` bytes together, at least one if there is any.
    pub(super) fn oldest(&self, bytes: usize) -> Vec<Entry> {
        fitting(&self.waiting().events, bytes)
    }

    /// Number of events ever accepted.
    pub(super) fn end(&self) -> u64 {
        self.waiting().end
    }

    /// Removes the events before this number, which are sent or undeliverable.
    pub(super) fn remove_before(&self, number: u64) {
        let mut waiting = self.waiting();
        while waiting
            .events
            .front()
            .is_some_and(|entry| entry.number < number)
            && waiting.drop_first()
        {}
    }

    /// Number of buffered events, and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        let waiting = self.waiting();
        (waiting.events.len() as u64, waiting.bytes as u64)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn drop_first(&mut self) -> bool {
        let Some(entry) = self.events.pop_front() else {
            return false;
        };
        self.bytes -= entry.event.len();
        true
    }
}
