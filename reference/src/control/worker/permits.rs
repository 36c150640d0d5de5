//! Permits: limits of concurrent builds, in all and by owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::trial::TrialGuard;
use crate::control::store::Queue;

/// The KiB of all archives on their way to storages that do not count as builds, and what each of
/// them counts at least. A storage that hangs holds up its own bundle only.
const UPLOADS: u32 = 256 << 10;
const UPLOAD: u32 = 1 << 10;

/// The builds of each owner.
#[derive(Debug, Default)]
struct Owners {
    /// How many run, of those of whom any does.
    running: HashMap<String, usize>,
    /// The builds that were begun of all, and the number of the last one of each.
    begun: u64,
    last: HashMap<String, u64>,
}

/// What the builds of a process may hold.
#[derive(Debug)]
pub(super) struct Permits {
    /// One for each build that may run at the same time.
    all: Arc<Semaphore>,
    /// One for each of those that need not be of a change: the last one is kept for changes.
    due: Arc<Semaphore>,
    /// One more, for an owner of whom no build runs.
    guest: Arc<Semaphore>,
    /// One for each KiB of the archives that are on their way to storages.
    uploads: Arc<Semaphore>,
    owners: Arc<Mutex<Owners>>,
}

/// What a build holds; dropped, it is free for others.
#[derive(Debug, Default)]
pub(super) struct Permit {
    _held: Option<OwnedSemaphorePermit>,
    _due: Option<OwnedSemaphorePermit>,
    _running: Option<Counted>,
    _trial: Option<TrialGuard>,
}

/// A build that counts as one of its owner.
#[derive(Debug)]
struct Counted {
    owners: Arc<Mutex<Owners>>,
    tenant: String,
}

impl Counted {
    fn new(owners: &Arc<Mutex<Owners>>, tenant: &str) -> Self {
        let counted = Self {
            owners: Arc::clone(owners),
            tenant: tenant.to_owned(),
        };
        let mut owners = lock(owners);
        owners.begun += 1;
        let number = owners.begun;
        owners.last.insert(tenant.to_owned(), number);
        *owners.running.entry(tenant.to_owned()).or_default() += 1;
        counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut owners = lock(&self.owners);
        if let Some(count) = owners.running.get_mut(&self.tenant) {
            *count = count.saturating_sub(1);
        }
        owners.running.retain(|_, count| *count > 0);
    }
}

fn lock(owners: &Mutex<Owners>) -> MutexGuard<'_, Owners> {
    owners.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Permits {
    /// Slots for so many builds. With one alone, a change has to wait for what runs.
    pub(super) fn new(builds: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(builds)),
            due: Arc::new(Semaphore::new(builds.saturating_sub(1).max(1))),
            guest: Arc::new(Semaphore::new(builds.min(1))),
            uploads: Arc::new(Semaphore::new(UPLOADS as usize)),
            owners: Arc::default(),
        }
    }

    /// How many builds of an owner run, and the number of the last that was begun.
    pub(super) fn turn(&self, tenant: &str) -> (usize, u64) {
        let owners = lock(&self.owners);
        let running = owners.running.get(tenant).copied().unwrap_or_default();
        (
            running,
            owners.last.get(tenant).copied().unwrap_or_default(),
        )
    }

    /// Whether no build runs.
    pub(super) fn are_idle(&self) -> bool {
        lock(&self.owners).running.is_empty()
    }

    /// Whether a build of nobody could begin.
    pub(super) fn are_taken(&self) -> bool {
        self.all.available_permits() == 0 && self.guest.available_permits() == 0
    }

    /// A slot for a bundle of an owner from a queue, if one is free.
    pub(super) fn take(&self, queue: Queue, tenant: &str) -> Option<Permit> {
        self.take_own(queue, tenant)
            .or_else(|| self.take_as_guest(tenant))
    }

    fn take_own(&self, queue: Queue, tenant: &str) -> Option<Permit> {
        let due = match queue {
            Queue::Changed => None,
            Queue::Due => Some(Arc::clone(&self.due).try_acquire_owned().ok()?),
        };
        let held = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(self.slot(held, due, tenant))
    }

    fn take_as_guest(&self, tenant: &str) -> Option<Permit> {
        if lock(&self.owners).running.contains_key(tenant) {
            return None;
        }
        let held = Arc::clone(&self.guest).try_acquire_owned().ok()?;
        Some(self.slot(held, None, tenant))
    }

    fn slot(
        &self,
        held: OwnedSemaphorePermit,
        due: Option<OwnedSemaphorePermit>,
        tenant: &str,
    ) -> Permit {
        Permit {
            _held: Some(held),
            _due: due,
            _running: Some(Counted::new(&self.owners, tenant)),
            _trial: None,
        }
    }

    /// A slot for a trial, which waits for none.
    pub(super) fn trial(&self, tenant: &str, held: TrialGuard) -> Permit {
        let slot = self.take(Queue::Changed, tenant);
        let mut slot = slot.unwrap_or_else(|| Permit {
            _running: Some(Counted::new(&self.owners, tenant)),
            ..Permit::default()
        });
        slot._trial = Some(held);
        slot
    }

    /// A slot for a build that goes on, as soon as there is one.
    pub(super) async fn wait(&self, tenant: &str) -> Permit {
        let all = Arc::clone(&self.all);
        match all.acquire_owned().await {
            Ok(held) => self.slot(held, None, tenant),
            // The slots are never closed.
            Err(_) => Permit::default(),
        }
    }

    /// What a build holds while it writes an archive: its slot goes to another one, unless there
    /// are too many archives on their way.
    pub(super) fn upload(&self, slot: Permit, archive: usize) -> Permit {
        let size = u32::try_from(archive >> 10).unwrap_or(u32::MAX);
        let uploads = Arc::clone(&self.uploads);
        match uploads.try_acquire_many_owned(size.max(UPLOAD)) {
            Ok(held) => Permit {
                _held: Some(held),
                ..Permit::default()
            },
            Err(_) => slot,
        }
    }
}
