//! What work costs a thread: processor time, of which other work on the machine takes none.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What costs less than this is not told from what a clock and a cold cache cost.
const NOISE: Duration = Duration::from_micros(100);

/// As often it is tried whether the costs are as they should be.
const TRIES: u32 = 8;

/// Compares what two pieces of work cost this thread, the least of several tries of each.
///
/// # Errors
/// The costs, when that of the second is never less than `most` times that of the first.
pub(crate) fn compare(
    most: u32,
    mut first: impl FnMut(),
    mut second: impl FnMut(),
) -> Result<(), String> {
    let mut least = (Duration::MAX, Duration::MAX);
    for round in 0..TRIES {
        least = (
            least.0.min(cost(&mut first)),
            least.1.min(cost(&mut second)),
        );
        // The first time, caches are cold.
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

/// The processor time that this thread has had.
fn spent() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
