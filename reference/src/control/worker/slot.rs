//! Slots: how many builds may run at the same time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::control::store::Queue;

/// The KiB of all archives on their way to storages that do not count as builds, and what each of
/// them counts at least. A storage that hangs holds up its own bundle only.
const UPLOADS: u32 = 256 << 10;
const UPLOAD: u32 = 1 << 10;

/// What the builds of a process may hold.
#[derive(Debug)]
pub(super) struct Slots {
    /// One for each build that may run at the same time.
    all: Arc<Semaphore>,
    /// One for each of those that need not be of a change: the last one is kept for changes.
    due: Arc<Semaphore>,
    /// One for each KiB of the archives that are on their way to storages.
    uploads: Arc<Semaphore>,
}

/// What a build holds; dropped, it is free for others.
#[derive(Debug, Default)]
pub(super) struct Slot {
    _held: Option<OwnedSemaphorePermit>,
    _due: Option<OwnedSemaphorePermit>,
}

impl Slots {
    /// Slots for so many builds. With one alone, a change has to wait for what runs.
    pub(super) fn new(builds: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(builds)),
            due: Arc::new(Semaphore::new(builds.saturating_sub(1).max(1))),
            uploads: Arc::new(Semaphore::new(UPLOADS as usize)),
        }
    }

    /// All that are free for the bundles of a queue.
    pub(super) fn free(&self, queue: Queue) -> Vec<Slot> {
        let next = || {
            let due = match queue {
                Queue::Changed => None,
                Queue::Due => Some(Arc::clone(&self.due).try_acquire_owned().ok()?),
            };
            let held = Arc::clone(&self.all).try_acquire_owned().ok()?;
            Some(Slot {
                _held: Some(held),
                _due: due,
            })
        };
        std::iter::from_fn(next).collect()
    }

    /// A slot for a build that goes on, as soon as there is one.
    pub(super) async fn wait(&self) -> Slot {
        let all = Arc::clone(&self.all);
        match all.acquire_owned().await {
            Ok(held) => Slot {
                _held: Some(held),
                _due: None,
            },
            // The slots are never closed.
            Err(_) => Slot::default(),
        }
    }

    /// What a build holds while it writes an archive: its slot goes to another one, unless there
    /// are too many archives on their way.
    pub(super) fn upload(&self, slot: Slot, archive: usize) -> Slot {
        let size = u32::try_from(archive >> 10).unwrap_or(u32::MAX);
        let uploads = Arc::clone(&self.uploads);
        match uploads.try_acquire_many_owned(size.max(UPLOAD)) {
            Ok(held) => Slot {
                _held: Some(held),
                _due: None,
            },
            Err(_) => slot,
        }
    }
}
