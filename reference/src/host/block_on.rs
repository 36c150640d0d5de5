//! Blocking waits for the network and the resolver.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rego::Ended;
use rego::host::Cancellation;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// How often a wait looks whether anyone still wants the answer.
const GLANCE: Duration = Duration::from_millis(20);

/// What somebody sends, nothing if they went away without sending.
///
/// # Errors
/// When nobody waits for the evaluation any more.
pub(super) fn receive<T>(sent: &Receiver<T>, wanted: Cancellation<'_>) -> Result<Option<T>, Ended> {
    offload(|| {
        loop {
            match sent.recv_timeout(GLANCE) {
                Ok(received) => return Ok(Some(received)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => wanted()?,
            }
        }
    })
}

/// Lets some time pass.
///
/// # Errors
/// When nobody waits for the evaluation any more.
pub(super) fn pause(time: Duration, wanted: Cancellation<'_>) -> Result<(), Ended> {
    let begun = Instant::now();
    offload(|| {
        while begun.elapsed() < time {
            wanted()?;
            std::thread::sleep(GLANCE.min(time));
        }
        Ok(())
    })
}

/// Waits without holding up others: a thread that serves connections gives its other tasks to
/// another thread first, for what is waited for may be one of them.
fn offload<T>(wait: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(wait),
        _ => wait(),
    }
}
