//! Blocking waits for the network and the resolver.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rego::AbortReason;
use rego::host::Cancellation;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Interval at which a wait checks for cancellation.
const GLANCE: Duration = Duration::from_millis(20);

/// Receives a value; `None` if the sender was dropped without sending.
///
/// # Errors
/// When the evaluation is cancelled.
pub(super) fn receive<T>(
    sent: &Receiver<T>,
    check_cancelled: Cancellation<'_>,
) -> Result<Option<T>, AbortReason> {
    offload(|| {
        loop {
            match sent.recv_timeout(GLANCE) {
                Ok(received) => return Ok(Some(received)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => check_cancelled()?,
            }
        }
    })
}

/// Sleeps for this time.
///
/// # Errors
/// When the evaluation is cancelled.
pub(super) fn pause(time: Duration, check_cancelled: Cancellation<'_>) -> Result<(), AbortReason> {
    let started = Instant::now();
    offload(|| {
        while started.elapsed() < time {
            check_cancelled()?;
            std::thread::sleep(GLANCE.min(time));
        }
        Ok(())
    })
}

/// Blocks without stalling other tasks: a thread that serves connections first hands its other
/// tasks to another thread, because the wait may be for one of them.
fn offload<T>(wait: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(wait),
        _ => wait(),
    }
}
