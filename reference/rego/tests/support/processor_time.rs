//! Cost of work in processor time of the thread, which excludes other work on the machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Cost below which clock and cold cache effects dominate.
const NOISE: Duration = Duration::from_micros(100);

/// Maximum number of attempts to observe the expected costs.
const MAX_ATTEMPTS: u32 = 8;

/// Compares the costs of two pieces of work on this thread, each the minimum of several rounds.
///
/// # Errors
/// Returns the costs if that of the second is never less than `most` times that of the first.
pub(crate) fn compare(
    most: u32,
    mut first: impl FnMut(),
    mut second: impl FnMut(),
) -> Result<(), String> {
    let mut least = (Duration::MAX, Duration::MAX);
    for round in 0..MAX_ATTEMPTS {
        least = (
            least.0.min(cost(&mut first)),
            least.1.min(cost(&mut second)),
        );
        // In the first round, caches are cold.
        if round > 0 && least.1 < most * least.0.max(NOISE) {
            return Ok(());
        }
    }
    Err(format!("{:?}, then {:?}", least.0, least.1))
}

fn cost(work: impl FnOnce()) -> Duration {
    let start = spent();
    work();
    spent().saturating_sub(start)
}

/// Returns the processor time of this thread.
fn spent() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
