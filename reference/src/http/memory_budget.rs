//! Memory budget shared by requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a request waits until others give memory back.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(1);

/// How often a thread that may block looks whether memory was given back.
const MEMORY_POLL: Duration = Duration::from_millis(5);

/// Memory is counted in so many bytes.
const UNIT: usize = 1 << 10;

/// So many bytes are free for everybody, and counted by nobody: what short requests and answers take
/// is little beside what their connections do.
const FREE: usize = 4 << 10;

/// The memory in bytes that all requests together may take.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBudget {
    free: Arc<Semaphore>,
    size: usize,
}

/// The memory is spent, and nobody gave back enough in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too much is in flight: ask again")]
pub(crate) struct OutOfMemory;

impl MemoryBudget {
    /// A budget of so many bytes.
    pub(super) fn new(size: usize) -> Self {
        let units = size.div_ceil(UNIT).min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(units)),
            size,
        }
    }

    /// All of it, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// A share of it, of nothing yet.
    pub(super) fn share(self: &Arc<Self>) -> Reservation {
        Reservation {
            budget: Some(Arc::clone(self)),
            taken: 0,
            permit: None,
        }
    }
}

/// What somebody has taken of a budget, until this is dropped. By default there is no budget, and
/// everything may be taken.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    budget: Option<Arc<MemoryBudget>>,
    /// Bytes.
    taken: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Reservation {
    /// Takes so many more bytes, perhaps after a while.
    ///
    /// # Errors
    /// When there is not enough in time.
    pub(super) async fn grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let Some((budget, units)) = self.missing(more)? else {
            return Ok(());
        };
        let permits = Arc::clone(&budget.free).acquire_many_owned(units);
        let permit = tokio::time::timeout(MEMORY_TIMEOUT, permits).await;
        self.keep(
            permit.map_err(|_| OutOfMemory)?.map_err(|_| OutOfMemory)?,
            more,
        );
        Ok(())
    }

    /// The same on a thread that may block.
    fn grow_blocking(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let begun = Instant::now();
        let Some((budget, units)) = self.missing(more)? else {
            return Ok(());
        };
        loop {
            if let Ok(permit) = Arc::clone(&budget.free).try_acquire_many_owned(units) {
                self.keep(permit, more);
                return Ok(());
            }
            if begun.elapsed() >= MEMORY_TIMEOUT {
                return Err(OutOfMemory);
            }
            std::thread::sleep(MEMORY_POLL);
        }
    }

    /// The units that are missing for so many more bytes, and whose they are.
    fn missing(&mut self, more: usize) -> Result<Option<(Arc<MemoryBudget>, u32)>, OutOfMemory> {
        let Some(budget) = &self.budget else {
            return Ok(None);
        };
        let units = |bytes: usize| bytes.saturating_sub(FREE).div_ceil(UNIT);
        let wanted = units(self.taken.saturating_add(more));
        let held = units(self.taken);
        match u32::try_from(wanted - held) {
            Ok(0) => {
                self.taken += more;
                Ok(None)
            }
            Ok(units) if wanted <= budget.size.div_ceil(UNIT) => {
                Ok(Some((Arc::clone(budget), units)))
            }
            _ => Err(OutOfMemory),
        }
    }

    fn keep(&mut self, permit: OwnedSemaphorePermit, more: usize) {
        self.taken = self.taken.saturating_add(more);
        match &mut self.permit {
            Some(held) => held.merge(permit),
            None => self.permit = Some(permit),
        }
    }
}

/// The share of a request, which its body grows into. Clones are the same share.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestMemory(Arc<Mutex<Reservation>>);

impl RequestMemory {
    pub(super) fn new(share: Reservation) -> Self {
        Self(Arc::new(Mutex::new(share)))
    }

    /// Takes so many more bytes, perhaps after a while, for which the thread is blocked.
    ///
    /// # Errors
    /// When there is not enough in time.
    pub(crate) fn grow(&self, more: usize) -> Result<(), OutOfMemory> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        share.grow_blocking(more)
    }

    /// The same for an amount that is only known roughly: who would need more than there is, takes
    /// all.
    ///
    /// # Errors
    /// As [`Self::grow`].
    pub(crate) fn grow_about(&self, more: usize) -> Result<(), OutOfMemory> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = match &share.budget {
            Some(budget) => budget.size.saturating_sub(share.taken),
            None => more,
        };
        share.grow_blocking(more.min(left))
    }
}
