//! Memory budget shared by requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum time that a request waits for memory.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(1);

/// Polling interval of a blocking thread that waits for memory.
const MEMORY_POLL: Duration = Duration::from_millis(5);

/// Granularity of memory accounting, in bytes.
const UNIT: usize = 1 << 10;

/// Bytes per reservation that are not accounted: short requests and responses take little compared
/// with their connections.
const FREE: usize = 4 << 10;

/// Memory budget, in bytes, that all requests share.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    free: Arc<Semaphore>,
    size: usize,
}

/// The budget is exhausted, and not enough was released in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory budget is exhausted: retry later")]
pub struct OutOfMemory;

impl MemoryBudget {
    /// Creates a budget of `size` bytes.
    pub(super) fn new(size: usize) -> Self {
        let units = size.div_ceil(UNIT).min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(units)),
            size,
        }
    }

    /// Total size in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Creates an empty reservation.
    pub(super) fn share(self: &Arc<Self>) -> Reservation {
        Reservation {
            budget: Some(Arc::clone(self)),
            taken: 0,
            permit: None,
        }
    }
}

/// Part of a budget that is reserved until the value is dropped. By default there is no budget, and
/// reservations are unlimited.
#[derive(Debug, Default)]
pub struct Reservation {
    budget: Option<Arc<MemoryBudget>>,
    /// Reserved bytes.
    taken: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Reservation {
    /// Reserves `more` bytes, possibly after waiting.
    ///
    /// # Errors
    /// When not enough is available in time.
    pub(super) async fn grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let Some((budget, units)) = self.missing(more)? else {
            return Ok(());
        };
        let permits = Arc::clone(&budget.free).acquire_many_owned(units);
        let permit = tokio::time::timeout(MEMORY_TIMEOUT, permits).await;
        self.add_permit(
            permit.map_err(|_| OutOfMemory)?.map_err(|_| OutOfMemory)?,
            more,
        );
        Ok(())
    }

    /// Same as `grow`, on a thread that may block.
    fn grow_blocking(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let started = Instant::now();
        let Some((budget, units)) = self.missing(more)? else {
            return Ok(());
        };
        loop {
            if let Ok(permit) = Arc::clone(&budget.free).try_acquire_many_owned(units) {
                self.add_permit(permit, more);
                return Ok(());
            }
            if started.elapsed() >= MEMORY_TIMEOUT {
                return Err(OutOfMemory);
            }
            std::thread::sleep(MEMORY_POLL);
        }
    }

    /// Returns the budget and the number of units to acquire for `more` further bytes; `None` if no
    /// unit is needed.
    fn missing(&mut self, more: usize) -> Result<Option<(Arc<MemoryBudget>, u32)>, OutOfMemory> {
        let Some(budget) = &self.budget else {
            return Ok(None);
        };
        let units = |bytes: usize| bytes.saturating_sub(FREE).div_ceil(UNIT);
        let required = units(self.taken.saturating_add(more));
        let reserved = units(self.taken);
        match u32::try_from(required - reserved) {
            Ok(0) => {
                self.taken += more;
                Ok(None)
            }
            Ok(units) if required <= budget.size.div_ceil(UNIT) => {
                Ok(Some((Arc::clone(budget), units)))
            }
            _ => Err(OutOfMemory),
        }
    }

    fn add_permit(&mut self, permit: OwnedSemaphorePermit, more: usize) {
        self.taken = self.taken.saturating_add(more);
        match &mut self.permit {
            Some(current) => current.merge(permit),
            None => self.permit = Some(permit),
        }
    }
}

/// Reservation of a request, which grows with its body. Clones share the same reservation.
#[derive(Debug, Clone, Default)]
pub struct RequestMemory(Arc<Mutex<Reservation>>);

impl RequestMemory {
    pub(super) fn new(share: Reservation) -> Self {
        Self(Arc::new(Mutex::new(share)))
    }

    /// Reserves `more` bytes, possibly after waiting, which blocks the thread.
    ///
    /// # Errors
    /// When not enough is available in time.
    pub fn grow(&self, more: usize) -> Result<(), OutOfMemory> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        share.grow_blocking(more)
    }

    /// Same as `grow` for an estimate: an amount that exceeds the budget reserves all of it.
    ///
    /// # Errors
    /// Those of [`Self::grow`].
    pub fn grow_about(&self, more: usize) -> Result<(), OutOfMemory> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = match &share.budget {
            Some(budget) => budget.size.saturating_sub(share.taken),
            None => more,
        };
        share.grow_blocking(more.min(left))
    }
}
