//! Decisions that wait for their upload.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;

use crate::engine::config::Upload;

/// Events as they are sent, the oldest first. When there are too many, the oldest are dropped.
#[derive(Debug, Default)]
pub(in crate::engine) struct Buffer(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    events: VecDeque<Bytes>,
    /// The bytes of all events.
    bytes: usize,
    /// How many events have left, which numbers those that are still here.
    gone: u64,
    counts: Counts,
    /// How many events may still come, and since when.
    allowance: Option<(f64, Instant)>,
}

/// What became of events.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::engine::plugins) struct Counts {
    /// Those that had to make room, or would have taken too much of it.
    pub(in crate::engine::plugins) no_room: u64,
    /// Those that were too many in one second.
    pub(in crate::engine::plugins) too_fast: u64,
    /// Those that alone are longer than an upload may be.
    pub(in crate::engine::plugins) too_long: u64,
    /// Those that were sent without what non-deterministic functions answered.
    pub(in crate::engine::plugins) without_calls: u64,
    /// Uploads.
    pub(in crate::engine::plugins) uploads: u64,
    /// Uploads that were not taken.
    pub(in crate::engine::plugins) failed_uploads: u64,
}

impl Counts {
    /// The counts by their names in reports.
    pub(in crate::engine::plugins) fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("decision_logs_chunks_uploaded", self.uploads),
            ("decision_logs_chunks_upload_failed", self.failed_uploads),
            (
                "decision_logs_dropped_buffer_size_limit_exceeded",
                self.no_room,
            ),
            ("decision_logs_dropped_rate_limit_exceeded", self.too_fast),
            ("decision_logs_nd_builtin_cache_dropped", self.without_calls),
            ("enc_log_exceeded_upload_size_limit_bytes", self.too_long),
        ]
    }
}

impl Buffer {
    /// Takes an event.
    pub(super) fn put(&self, event: Vec<u8>, limits: &Upload) {
        let mut waiting = self.waiting();
        if !limits.rate.is_none_or(|rate| waiting.may_come(rate)) {
            waiting.counts.too_fast += 1;
            return;
        }
        if event.len() > limits.bytes {
            waiting.counts.no_room += 1;
            return;
        }
        waiting.bytes += event.len();
        waiting.events.push_back(Bytes::from(event));
        while waiting.bytes > limits.bytes || waiting.events.len() > limits.events {
            if !waiting.drop_first() {
                break;
            }
            waiting.counts.no_room += 1;
        }
    }

    /// The oldest events that have at most so many bytes together, at least one if there is any,
    /// and the number of the first.
    pub(super) fn oldest(&self, bytes: usize) -> (u64, Vec<Bytes>) {
        let waiting = self.waiting();
        let mut sum = 0_usize;
        let fits = waiting.events.iter().take_while(|event| {
            let first = sum == 0;
            sum = sum.saturating_add(event.len());
            first || sum <= bytes
        });
        (waiting.gone, fits.cloned().collect())
    }

    /// How many events were ever taken and not refused.
    pub(super) fn end(&self) -> u64 {
        let waiting = self.waiting();
        waiting.gone + waiting.events.len() as u64
    }

    /// Removes the events before the one with this number, which were sent, or which cannot be.
    pub(super) fn remove_before(&self, number: u64) {
        let mut waiting = self.waiting();
        while waiting.gone < number && waiting.drop_first() {}
    }

    /// Counts.
    pub(super) fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.waiting().counts);
    }

    /// How many events wait, and their bytes.
    pub(in crate::engine::plugins) fn size(&self) -> (usize, usize) {
        let waiting = self.waiting();
        (waiting.events.len(), waiting.bytes)
    }

    /// What became of events.
    pub(in crate::engine::plugins) fn counts(&self) -> Counts {
        self.waiting().counts
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn drop_first(&mut self) -> bool {
        let Some(event) = self.events.pop_front() else {
            return false;
        };
        self.bytes -= event.len();
        self.gone += 1;
        true
    }

    /// Whether an event may come when at most `rate` may in one second.
    fn may_come(&mut self, rate: f64) -> bool {
        let now = Instant::now();
        let most = rate.max(1.0);
        let (left, since) = self.allowance.unwrap_or((most, now));
        let earned = now.saturating_duration_since(since).as_secs_f64() * rate;
        let left = (left + earned).min(most);
        let comes = left >= 1.0;
        self.allowance = Some((if comes { left - 1.0 } else { left }, now));
        comes
    }
}
