//! Limits of open file descriptors.

use rustix::process::{Resource, getrlimit, setrlimit};
use tracing::{debug, warn};

/// File descriptors reserved for other uses: databases, bundles, pipes, outgoing connections.
const OTHERS: u64 = 128;

/// Raises the limit as far as the system allows, and returns the number of connections that fit in
/// it, if there is a limit.
pub(super) fn raise() -> Option<usize> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(failure) = setrlimit(Resource::Nofile, limit) {
        debug!(%failure, "cannot raise the limit of open files");
    }
    let limit = getrlimit(Resource::Nofile).current?;
    usize::try_from(limit.saturating_sub(OTHERS)).ok()
}

/// The requested number of connections, or as many as fit.
pub(super) fn fitting(requested: usize, available: Option<usize>) -> usize {
    match available {
        Some(available) if available < requested => {
            let fitting = available.max(1);
            warn!(
                asked = requested,
                fitting, "the limit of open files allows fewer connections"
            );
            fitting
        }
        _ => requested,
    }
}
