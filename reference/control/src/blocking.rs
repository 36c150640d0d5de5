//! Blocking work with cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

/// Reason why work did not complete.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("not done within {0} s")]
    Late(u64),
    #[error("the work ended unexpectedly")]
    Ended,
    #[error("no thread to work on: {0}")]
    Thread(std::io::Error),
}

/// Sets its flag when it is dropped.
struct Cancel(Arc<AtomicBool>);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on a separate thread; unlike for those of the runtime, nobody waits for it when the
/// server stops. The flag signals to the work that its result is no longer needed.
///
/// # Errors
/// When the time limit expires, the work panics, or no thread can be spawned.
pub(super) async fn run<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
) -> Result<T, Lost> {
    let cancel = Cancel(Arc::default());
    let cancelled = Arc::clone(&cancel.0);
    let (done, waiting) = oneshot::channel();
    let thread = std::thread::Builder::new().name("blocking".to_owned());
    let spawned = thread.spawn(move || {
        // The receiver may be gone.
        let _ = done.send(work(&cancelled));
    });
    spawned.map_err(Lost::Thread)?;
    match tokio::time::timeout(limit, waiting).await {
        Ok(done) => done.map_err(|_| Lost::Ended),
        Err(_) => Err(Lost::Late(limit.as_secs())),
    }
}
