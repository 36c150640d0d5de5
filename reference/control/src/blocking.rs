//! Blocking work on its own thread, with a time limit and cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

/// Reason why the work has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum JoinFailure {
    #[error("not done within {0} s")]
    TimedOut(u64),
    #[error("the work ended unexpectedly")]
    Ended,
    #[error("no thread to work on: {0}")]
    Thread(std::io::Error),
}

/// Guard that sets its flag when it is dropped.
struct Cancel(Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs blocking work on its own thread and waits for the result. Unlike the blocking threads of
/// tokio, such a thread does not delay the shutdown of the server. The flag passed to the work
/// becomes true when the result is no longer needed.
///
/// # Errors
/// When the time limit expires, the work panics, or no thread can be spawned.
pub(super) async fn run<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
) -> Result<T, JoinFailure> {
    let cancel = Cancel(Arc::default());
    let cancelled = Arc::clone(&cancel.0);
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("blocking".to_owned());
    let spawned = thread.spawn(move || {
        // The caller may have stopped waiting.
        let _ = sender.send(work(&cancelled));
    });
    spawned.map_err(JoinFailure::Thread)?;
    match tokio::time::timeout(limit, receiver).await {
        Ok(result) => result.map_err(|_| JoinFailure::Ended),
        Err(_) => Err(JoinFailure::TimedOut(limit.as_secs())),
    }
}
