//! Work that must terminate.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time after which a test counts as hanging. No test depends on speed.
const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Runs work on a separate thread and returns its result.
///
/// # Panics
/// When the work panics or hangs.
pub(crate) fn ending<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sends, ends) = channel();
    thread::spawn(move || sends.send(work()));
    match ends.recv_timeout(HANG_LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("no end: {what}"),
        Err(RecvTimeoutError::Disconnected) => panic!("a panic: {what}"),
    }
}
