//! Offloads work from connection threads to the blocking pool.

use tokio::runtime::Handle;

/// Does what may take long on another thread, and nothing where there is no runtime: then what the
/// work holds is dropped here.
pub(super) fn offload(work: impl FnOnce() + Send + 'static) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn_blocking(work);
    }
}
