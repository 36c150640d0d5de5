//! Inline policy: decides by recent durations where an inline attempt on a connection thread is
//! worthwhile. Attempts end by themselves at their limit.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::http::Request;

/// Work that takes longer is not tried by the threads that serve connections.
const QUICK: Duration = Duration::from_micros(500);

/// After as many inline attempts in a row that ended without an answer pauses get no longer.
const MAX_FAILURES: u32 = 10;

/// Whether an inline attempt of some work is likely to succeed. For what never was done it is not.
#[derive(Debug, Default)]
pub(super) struct InlinePolicy {
    /// Whether it was quick when it was last done.
    quick: AtomicBool,
    /// Inline attempts in a row that ended without an answer.
    failures: AtomicU32,
    /// Requests that are not tried because of them.
    pause: AtomicU32,
}

impl InlinePolicy {
    /// Whether the next request is worth an inline attempt. This counts the requests of a pause.
    pub(super) fn is_quick(&self) -> bool {
        if !self.quick.load(Ordering::Relaxed) {
            return false;
        }
        match self.pause.load(Ordering::Relaxed) {
            0 => true,
            left => {
                self.pause.store(left - 1, Ordering::Relaxed);
                false
            }
        }
    }

    /// Does it for a request, and takes note of how long it took, or whether the attempt succeeded.
    pub(super) fn of<T>(&self, request: &Request, work: impl FnOnce() -> T) -> T {
        let Some(attempt) = &request.inline_attempt else {
            return self.time(work);
        };
        let done = work();
        self.note_attempt(!attempt.is_abandoned());
        done
    }

    fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.quick
            .store(begun.elapsed() <= QUICK, Ordering::Relaxed);
        done
    }

    /// After each attempt that ended without an answer the pause is twice as long.
    fn note_attempt(&self, succeeded: bool) {
        let failures = self.failures.load(Ordering::Relaxed);
        if succeeded {
            if failures > 0 {
                self.failures.store(0, Ordering::Relaxed);
            }
            return;
        }
        let failures = (failures + 1).min(MAX_FAILURES);
        self.failures.store(failures, Ordering::Relaxed);
        self.pause.store(1 << failures, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::InlinePolicy;

    #[test]
    fn failed_attempts_become_rare() {
        let latency = InlinePolicy::default();
        assert!(!latency.is_quick(), "nothing was done yet");
        // Unless others had the processor meanwhile, doing nothing is quick.
        while !latency.is_quick() {
            latency.time(|| ());
        }
        let mut tried = 0;
        for _ in 0..10_000 {
            if latency.is_quick() {
                tried += 1;
                latency.note_attempt(false);
            }
        }
        assert!((5..30).contains(&tried), "{tried}");
        while !latency.is_quick() {}
        latency.note_attempt(true);
        assert!(latency.is_quick());
    }
}
