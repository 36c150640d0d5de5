//! Backoff between polls, and timestamps in reports.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat};

use crate::config::Delay;

/// First delay after a failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Minimum delay, whatever the configuration or a service says.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// Time in reports for events that have never happened.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// Formats a time as RFC 3339, in UTC with nanoseconds.
pub(super) fn rfc3339(time: Option<SystemTime>) -> String {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let time = since.and_then(|since| {
        let seconds = i64::try_from(since.as_secs()).ok()?;
        DateTime::from_timestamp(seconds, since.subsec_nanos())
    });
    time.map_or_else(
        || NEVER.to_owned(),
        |time| time.to_rfc3339_opts(SecondsFormat::Nanos, true),
    )
}

/// Delays between the runs of a task: random between the configured bounds, and after failures
/// exponentially growing up to the upper bound.
#[derive(Debug)]
pub(super) struct Backoff {
    delay: Delay,
    failures: u32,
}

impl Backoff {
    pub(super) fn new(delay: Delay) -> Self {
        Self { delay, failures: 0 }
    }

    /// Delay before the next run, after one that succeeded or failed.
    pub(super) fn next(&mut self, succeeded: bool) -> Duration {
        if !succeeded {
            return self.after_failure();
        }
        self.forgive();
        let span = self.delay.most.saturating_sub(self.delay.least);
        let pause = self.delay.least + span.mul_f64(random());
        pause.max(SHORTEST_PAUSE)
    }

    /// Resets the number of failures.
    pub(super) fn forgive(&mut self) {
        self.failures = 0;
    }

    /// Delay after another failure.
    pub(super) fn after_failure(&mut self) -> Duration {
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        let pause = pause.min(self.delay.most).mul_f64(0.5 + random() / 2.0);
        pause.max(SHORTEST_PAUSE)
    }
}

/// Random number from 0 to 1.
fn random() -> f64 {
    let drawn = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(drawn) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::never(None, NEVER)]
    #[case::epoch(Some(0), "1970-01-01T00:00:00.000000005Z")]
    #[case::leap_day_of_a_century(Some(951_782_400), "2000-02-29T00:00:00.000000005Z")]
    #[case::before_midnight_of_a_leap_day(Some(1_709_251_199), "2024-02-29T23:59:59.000000005Z")]
    #[case::century_without_a_leap_day(Some(4_107_542_400), "2100-03-01T00:00:00.000000005Z")]
    #[case::end_of_a_year(Some(1_735_689_599), "2024-12-31T23:59:59.000000005Z")]
    fn times_are_written_in_utc(#[case] seconds: Option<u64>, #[case] expected: &str) {
        let time = seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::new(seconds, 5));
        assert_eq!(rfc3339(time), expected);
    }

    #[test]
    fn pauses_stay_within_their_delay() {
        let [least, most] = [100, 900].map(Duration::from_millis);
        let mut pauses = Backoff::new(Delay { least, most });
        for _ in 0..100 {
            let pause = pauses.next(true);
            assert!((least..=most).contains(&pause), "{pause:?}");
        }
        for shortest in [50, 100, 200, 400, 450, 450].map(Duration::from_millis) {
            let pause = pauses.next(false);
            assert!((shortest..=most).contains(&pause), "{pause:?}");
        }
        assert!(pauses.next(true) >= least);
        assert!(pauses.next(false) <= Duration::from_millis(100));
    }
}
