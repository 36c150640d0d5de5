//! Offloads work from connection threads to the blocking pool.

use tokio::runtime::Handle;

/// Runs work that may take long on another thread. Without a runtime the work is not run, and its
/// values are dropped here.
pub(super) fn offload(work: impl FnOnce() + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn_blocking(work);
    }
}
