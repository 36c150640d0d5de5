//! Work that must come to an end.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A test that hangs ends after this time. None depends on how quick something is.
const HANG_LIMIT: Duration = Duration::from_secs(120);

/// What work on a thread of its own comes to.
///
/// # Panics
/// When it panics or hangs.
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
