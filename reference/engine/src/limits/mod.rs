//! Evaluation limits: time and memory of each evaluation, threads and memory of all.
//!
//! An evaluation that does not finish at once needs a slot. There are a few slots for evaluations
//! that have just begun, and a few more for long ones, which take turns: however many evaluations
//! never end, others get a share of the processors, and the threads that serve connections are
//! never starved.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rego::{AbortReason, Governor, Limits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

mod options;
mod slots;

pub use options::EvaluationOptions;
use slots::Slots;

/// Maximum number of evaluating requests outside of the threads that serve connections; further
/// ones wait in order.
const ADMITTED: usize = 400;

/// An evaluation that has run longer than this is a long one.
const SHORT: Duration = Duration::from_millis(20);

/// A long evaluation yields its slot after this time, if others wait.
const SLICE: Duration = Duration::from_millis(100);

/// Granularity of memory accounting, in bytes.
const PIECE: u64 = 256 << 10;

/// Maximum time that an evaluation waits for memory.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(1);

/// Polling interval of an evaluation that waits for memory.
const MEMORY_POLL: Duration = Duration::from_millis(10);

/// Limits of single evaluations, and resources that all evaluations share.
#[derive(Debug)]
pub(super) struct EvaluationLimits {
    timeout: Option<Duration>,
    values: Option<u64>,
    /// Maximum bytes that all evaluations may use together.
    memory: Option<u64>,
    /// Bytes that all evaluations use together.
    taken: AtomicU64,
    short: Slots,
    long: Slots,
    admitted: Arc<Semaphore>,
}

impl Default for EvaluationLimits {
    fn default() -> Self {
        Self::new(&EvaluationOptions::default())
    }
}

impl EvaluationLimits {
    pub(super) fn new(options: &EvaluationOptions) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            timeout: options.timeout(),
            values: options.values(),
            memory: options.memory(),
            taken: AtomicU64::new(0),
            short: Slots::new(processors * 2),
            long: Slots::new(processors),
            admitted: Arc::new(Semaphore::new(ADMITTED)),
        }
    }

    /// Time limit of an evaluation.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Admits a request to a separate thread, possibly after waiting, until the permit is dropped.
    pub(super) async fn admit(&self) -> Option<OwnedSemaphorePermit> {
        let admitted = Arc::clone(&self.admitted);
        admitted.acquire_owned().await.ok()
    }

    /// Limits of an evaluation that begins now, on a thread that may block.
    pub(super) fn begin(self: &Arc<Self>) -> Limits {
        let started = Instant::now();
        let lease = Lease {
            limits: Arc::clone(self),
            started,
            state: Mutex::new(LeaseState {
                slot: None,
                since: started,
                unreserved: 0,
                memory: 0,
            }),
        };
        Limits {
            deadline: self
                .timeout
                .and_then(|timeout| started.checked_add(timeout)),
            values: self.values,
            inline: false,
            governor: Some(Arc::new(lease)),
        }
    }

    /// Reserves this many bytes of memory; returns false if there is not enough.
    fn take(&self, bytes: u64) -> bool {
        let Some(most) = self.memory else {
            return true;
        };
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= most);
        let order = Ordering::Relaxed;
        self.taken.fetch_update(order, order, more).is_ok()
    }
}

/// Limits of an inline attempt, on a thread that must not block.
pub(super) fn inline(deadline: Instant) -> Limits {
    Limits {
        deadline: Some(deadline),
        inline: true,
        ..Limits::default()
    }
}

/// Resources that an evaluation holds until it ends.
#[derive(Debug)]
struct Lease {
    limits: Arc<EvaluationLimits>,
    started: Instant,
    state: Mutex<LeaseState>,
}

#[derive(Debug)]
struct LeaseState {
    slot: Option<Slot>,
    /// Time at which the evaluation acquired its slot.
    since: Instant,
    /// Bytes that the evaluation has allocated, but not reserved yet.
    unreserved: u64,
    /// Bytes that the evaluation has reserved.
    memory: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Short,
    Long,
}

impl Lease {
    fn state(&self) -> MutexGuard<'_, LeaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots(&self, slot: Slot) -> &Slots {
        match slot {
            Slot::Short => &self.limits.short,
            Slot::Long => &self.limits.long,
        }
    }

    fn give(&self, state: &mut LeaseState) {
        if let Some(slot) = state.slot.take() {
            self.slots(slot).give();
        }
    }

    /// Reserves memory for the bytes allocated so far, possibly after waiting without a slot.
    fn pay(
        &self,
        state: &mut LeaseState,
        check_cancelled: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        let started = Instant::now();
        while !self.limits.take(state.unreserved) {
            self.give(state);
            if started.elapsed() >= MEMORY_TIMEOUT {
                return Err(AbortReason::Memory);
            }
            check_cancelled()?;
            thread::sleep(MEMORY_POLL);
        }
        state.memory += std::mem::take(&mut state.unreserved);
        Ok(())
    }

    /// Acquires a slot for a short or long evaluation, by its time so far, possibly after waiting.
    fn work(
        &self,
        state: &mut LeaseState,
        check_cancelled: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        let right = match self.started.elapsed() < SHORT {
            true => Slot::Short,
            false => Slot::Long,
        };
        let stays = state.slot == Some(right)
            && (right == Slot::Short
                || state.since.elapsed() < SLICE
                || !self.slots(right).are_awaited());
        if !stays {
            self.give(state);
            self.slots(right).take(check_cancelled)?;
            state.slot = Some(right);
            state.since = Instant::now();
        }
        Ok(())
    }
}

impl Governor for Lease {
    fn checkpoint(
        &self,
        unreserved: u64,
        check_cancelled: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        let mut state = self.state();
        state.unreserved = state.unreserved.saturating_add(unreserved);
        if state.unreserved >= PIECE {
            self.pay(&mut state, check_cancelled)?;
        }
        self.work(&mut state, check_cancelled)
    }

    fn rest(&self) {
        self.give(&mut self.state());
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.state();
        self.give(&mut state);
        self.limits.taken.fetch_sub(state.memory, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(memory: u64) -> Arc<EvaluationLimits> {
        Arc::new(EvaluationLimits {
            memory: Some(memory),
            ..EvaluationLimits::default()
        })
    }

    #[test]
    fn memory_comes_back_when_an_evaluation_ends() {
        let limits = limits(3 * PIECE);
        let governor = |limits: Limits| limits.governor.ok_or(AbortReason::Cancelled);
        let check_cancelled = || Ok(());
        let first = governor(limits.begin());
        let taken = first.map(|first| {
            assert_eq!(first.checkpoint(2 * PIECE, &check_cancelled), Ok(()));
            let second = governor(limits.begin());
            let refused = second.and_then(|second| second.checkpoint(2 * PIECE, &check_cancelled));
            assert_eq!(refused, Err(AbortReason::Memory));
        });
        assert_eq!(taken, Ok(()));
        assert_eq!(limits.taken.load(Ordering::Relaxed), 0);
        let third = governor(limits.begin());
        assert_eq!(
            third.and_then(|it| it.checkpoint(2 * PIECE, &check_cancelled)),
            Ok(())
        );
    }
}
