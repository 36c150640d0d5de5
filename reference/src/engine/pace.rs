//! How long work took, which says which threads do it the next time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Work that takes longer is not done by the threads that serve connections.
const QUICK: Duration = Duration::from_micros(500);

/// Whether work was quick when it was last done. What never was done was not.
#[derive(Debug, Default)]
pub(super) struct Pace(AtomicBool);

impl Pace {
    /// Whether it was quick.
    pub(super) fn is_quick(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does it.
    pub(super) fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.0.store(begun.elapsed() <= QUICK, Ordering::Relaxed);
        done
    }
}
