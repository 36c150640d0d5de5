//! Watchdog thread of blocking work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// Polling interval of the watchdog.
const CANCEL_POLL: Duration = Duration::from_millis(200);

/// Signals on drop that work is done, also after a panic.
struct Done<'d>(&'d AtomicBool, &'d Thread);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}

/// Runs work. Meanwhile another thread calls `on_poll` regularly, and `on_cancel` once the work is
/// cancelled.
pub(super) fn with_watchdog<T>(
    cancelled: &AtomicBool,
    on_poll: impl Fn() + Sync,
    on_cancel: impl Fn() + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if cancelled.load(Ordering::Relaxed) {
                    return on_cancel();
                }
                on_poll();
                std::thread::park_timeout(CANCEL_POLL);
            }
        });
        let _done = Done(&done, watcher.thread());
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn panics_end_the_watch() {
        let cancelled = AtomicBool::new(false);
        let work = || with_watchdog(&cancelled, || {}, || {}, || resume_unwind(Box::new(())));
        let ended: Result<(), _> = catch_unwind(AssertUnwindSafe(work));
        assert!(ended.is_err());
    }

    #[test]
    fn work_that_nobody_waits_for_is_ended() {
        let (cancelled, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let on_poll = || cancelled.store(true, Ordering::Relaxed);
        let on_cancel = || ended.store(true, Ordering::Relaxed);
        with_watchdog(&cancelled, on_poll, on_cancel, || {
            while !ended.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
    }
}
