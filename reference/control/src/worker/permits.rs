//! Permits: limits of concurrent builds, in total and per owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::trial::TrialGuard;
use crate::store::Queue;

/// Total KiB of archive uploads that do not count as builds, and the minimum that each counts. A
/// storage that hangs delays its own bundle only.
const TOTAL_UPLOAD_KIB: u32 = 256 << 10;
const MIN_UPLOAD_KIB: u32 = 1 << 10;

/// Build counters per owner.
#[derive(Debug, Default)]
struct Owners {
    /// Number of running builds of each owner that has any.
    running: HashMap<String, usize>,
    /// Number of builds started in total, and that number at the last start of each owner.
    started_builds: u64,
    last: HashMap<String, u64>,
}

/// Semaphores of the builds of a process.
#[derive(Debug)]
pub(super) struct Permits {
    /// One permit for each concurrent build.
    all: Arc<Semaphore>,
    /// One permit for each rebuild without a change; one build slot is reserved for changes.
    due: Arc<Semaphore>,
    /// One additional permit, for an owner without a running build.
    guest: Arc<Semaphore>,
    /// One permit for each KiB of the archives that are being uploaded.
    uploads: Arc<Semaphore>,
    owners: Arc<Mutex<Owners>>,
}

/// Permits that a build holds; dropping them releases them.
#[derive(Debug, Default)]
pub(super) struct Permit {
    _permit: Option<OwnedSemaphorePermit>,
    _due: Option<OwnedSemaphorePermit>,
    _running: Option<Counted>,
    _trial: Option<TrialGuard>,
}

/// Running build, counted for its owner.
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
        owners.started_builds += 1;
        let number = owners.started_builds;
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
    /// Creates permits for a number of builds. With only one, changes wait for running builds.
    pub(super) fn new(builds: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(builds)),
            due: Arc::new(Semaphore::new(builds.saturating_sub(1).max(1))),
            guest: Arc::new(Semaphore::new(builds.min(1))),
            uploads: Arc::new(Semaphore::new(TOTAL_UPLOAD_KIB as usize)),
            owners: Arc::default(),
        }
    }

    /// Returns the number of running builds of an owner, and the sequence number of the last one
    /// started.
    pub(super) fn usage(&self, tenant: &str) -> (usize, u64) {
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

    /// Whether no owner could start a build.
    pub(super) fn are_taken(&self) -> bool {
        self.all.available_permits() == 0 && self.guest.available_permits() == 0
    }

    /// Acquires a slot for a bundle of an owner from a queue, if one is free.
    pub(super) fn acquire(&self, queue: Queue, tenant: &str) -> Option<Permit> {
        self.acquire_own(queue, tenant)
            .or_else(|| self.acquire_guest(tenant))
    }

    fn acquire_own(&self, queue: Queue, tenant: &str) -> Option<Permit> {
        let due = match queue {
            Queue::Changed => None,
            Queue::Due => Some(Arc::clone(&self.due).try_acquire_owned().ok()?),
        };
        let permit = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(self.slot(permit, due, tenant))
    }

    fn acquire_guest(&self, tenant: &str) -> Option<Permit> {
        if lock(&self.owners).running.contains_key(tenant) {
            return None;
        }
        let permit = Arc::clone(&self.guest).try_acquire_owned().ok()?;
        Some(self.slot(permit, None, tenant))
    }

    fn slot(
        &self,
        permit: OwnedSemaphorePermit,
        due: Option<OwnedSemaphorePermit>,
        tenant: &str,
    ) -> Permit {
        Permit {
            _permit: Some(permit),
            _due: due,
            _running: Some(Counted::new(&self.owners, tenant)),
            _trial: None,
        }
    }

    /// Acquires a slot for a trial, which never waits for one.
    pub(super) fn trial(&self, tenant: &str, guard: TrialGuard) -> Permit {
        let slot = self.acquire(Queue::Changed, tenant);
        let mut slot = slot.unwrap_or_else(|| Permit {
            _running: Some(Counted::new(&self.owners, tenant)),
            ..Permit::default()
        });
        slot._trial = Some(guard);
        slot
    }

    /// Waits for a build slot for a build that has already started.
    pub(super) async fn wait(&self, tenant: &str) -> Permit {
        let all = Arc::clone(&self.all);
        match all.acquire_owned().await {
            Ok(permit) => self.slot(permit, None, tenant),
            // The semaphores are never closed.
            Err(_) => Permit::default(),
        }
    }

    /// Exchanges a build slot for an upload permit while the archive is written; keeps the slot if
    /// too much is being uploaded.
    pub(super) fn upload(&self, slot: Permit, archive: usize) -> Permit {
        let size = u32::try_from(archive >> 10).unwrap_or(u32::MAX);
        let uploads = Arc::clone(&self.uploads);
        match uploads.try_acquire_many_owned(size.max(MIN_UPLOAD_KIB)) {
            Ok(permit) => Permit {
                _permit: Some(permit),
                ..Permit::default()
            },
            Err(_) => slot,
        }
    }
}
