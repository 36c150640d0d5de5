//! Fair semaphore of evaluation threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use rego::AbortReason;

/// Interval at which a waiting thread checks whether it is cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Slots {
    most: usize,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Number of slots in use. INVARIANT: nobody waits while a slot is free.
    taken: usize,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    thread: Thread,
    /// Set when the waiting thread has acquired its slot.
    called: Arc<AtomicBool>,
}

impl Slots {
    /// Creates `most` slots.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            queue: Mutex::default(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquires a slot, possibly after waiting; threads get slots in the order of their calls.
    ///
    /// # Errors
    /// When the evaluation is cancelled.
    pub(super) fn take(
        &self,
        check_cancelled: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        let called = Arc::new(AtomicBool::new(false));
        {
            let mut queue = self.queue();
            if queue.taken < self.most {
                queue.taken += 1;
                return Ok(());
            }
            queue.waiting.push_back(Waiting {
                thread: thread::current(),
                called: Arc::clone(&called),
            });
        }
        loop {
            thread::park_timeout(CANCEL_POLL);
            if called.load(Ordering::Acquire) {
                return Ok(());
            }
            if let Err(ended) = check_cancelled() {
                let mut queue = self.queue();
                if called.load(Ordering::Acquire) {
                    queue.pass();
                } else {
                    let other = |one: &Waiting| !Arc::ptr_eq(&one.called, &called);
                    queue.waiting.retain(other);
                }
                return Err(ended);
            }
        }
    }

    /// Releases a slot.
    pub(super) fn give(&self) {
        self.queue().pass();
    }

    /// Whether anyone waits for a slot.
    pub(super) fn are_awaited(&self) -> bool {
        !self.queue().waiting.is_empty()
    }
}

impl Queue {
    /// Passes a slot to the thread that has waited longest, or frees the slot.
    fn pass(&mut self) {
        match self.waiting.pop_front() {
            Some(next) => {
                next.called.store(true, Ordering::Release);
                next.thread.unpark();
            }
            None => self.taken = self.taken.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn no_more_than_so_many_have_a_slot() {
        let (slots, busy, most) = (Slots::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        assert_eq!(slots.take(&|| Ok(())), Ok(()));
                        let now = busy.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        thread::yield_now();
                        busy.fetch_sub(1, Ordering::SeqCst);
                        slots.give();
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert!(!slots.are_awaited());
        assert_eq!(slots.queue().taken, 0);
    }

    #[test]
    fn who_is_not_wanted_leaves_the_queue() {
        let slots = Slots::new(1);
        assert_eq!(slots.take(&|| Ok(())), Ok(()));
        let refused = slots.take(&|| Err(AbortReason::Cancelled));
        assert_eq!(refused, Err(AbortReason::Cancelled));
        assert!(!slots.are_awaited());
        slots.give();
        assert_eq!(slots.take(&|| Err(AbortReason::Cancelled)), Ok(()));
    }
}
