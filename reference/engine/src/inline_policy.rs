//! Inline policy: decides by recent durations whether an inline attempt on a connection thread is
//! worthwhile. An attempt ends by itself at its time limit.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use http_server::Request;
use http_server::request::InlineAttempt;

/// Maximum duration of work that is attempted on connection threads.
const QUICK: Duration = Duration::from_micros(500);

/// After this many failed inline attempts in a row, pauses stop growing.
const MAX_FAILURES: u32 = 10;

/// Predicts whether an inline attempt of some work will succeed. Work that has never run is not
/// attempted inline.
#[derive(Debug, Default)]
pub(super) struct InlinePolicy {
    /// Whether the last run was quick.
    quick: AtomicBool,
    /// Number of consecutive inline attempts that failed.
    failures: AtomicU32,
    /// Number of further requests without an inline attempt, because of the failures.
    pause: AtomicU32,
}

impl InlinePolicy {
    /// Whether the next request merits an inline attempt. Each call during a pause shortens the
    /// pause by one request.
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

    /// Measures the work for a request until the result is dropped.
    pub(super) fn measure<'m>(&'m self, request: &'m Request) -> Measurement<'m> {
        Measurement {
            policy: self,
            work: match &request.inline_attempt {
                Some(attempt) => Attempted::Attempt(attempt),
                None => Attempted::Timed(Instant::now()),
            },
        }
    }

    /// Records an inline attempt. Each consecutive failure doubles the pause.
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

/// Measurement of work. When dropped, it records the duration, or whether the inline attempt
/// succeeded.
pub(super) struct Measurement<'m> {
    policy: &'m InlinePolicy,
    work: Attempted<'m>,
}

enum Attempted<'m> {
    /// Inline attempt.
    Attempt(&'m InlineAttempt),
    /// Work on an evaluation thread, which began at this time.
    Timed(Instant),
}

impl Drop for Measurement<'_> {
    fn drop(&mut self) {
        match self.work {
            Attempted::Attempt(attempt) => self.policy.note_attempt(!attempt.is_abandoned()),
            Attempted::Timed(started) => {
                let is_quick = started.elapsed() <= QUICK;
                self.policy.quick.store(is_quick, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::InlinePolicy;
    use http_server::Request;

    #[test]
    fn failed_attempts_become_rare() {
        let latency = InlinePolicy::default();
        let request = Request::from(http::Request::new(Bytes::new()));
        assert!(!latency.is_quick(), "nothing was done yet");
        // Doing nothing is quick, unless the processor is busy with other work.
        while !latency.is_quick() {
            drop(latency.measure(&request));
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
