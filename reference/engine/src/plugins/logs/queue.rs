//! Queue of decisions that wait for upload, in memory and on disk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use rego::Value;
use tokio::sync::Notify;
use tracing::{error, info};

use super::counts::Counts;
use super::disk_buffer::{DiskBuffer, Unwritten};
use super::memory_buffer::MemoryBuffer;
use super::rate_limit::RateLimiter;
use super::source::Source;
use crate::config::{BufferFull, Disk, Upload, UploadTrigger};

/// A decision that could not be logged, so the request is refused.
#[derive(Debug, thiserror::Error)]
#[error("the decision cannot be logged")]
pub(crate) struct Unlogged;

/// Queue of events: on disk if configured, otherwise in memory.
#[derive(Debug, Default)]
pub(crate) struct LogQueue {
    memory: Arc<MemoryBuffer>,
    spool: ArcSwapOption<DiskBuffer>,
    /// Disk buffers that are not configured any more, until they are empty. The first has the
    /// oldest events.
    retired: Mutex<Vec<Arc<DiskBuffer>>>,
    allowance: RateLimiter,
    /// Notified when the queued events fill an upload.
    filled: Notify,
    counts: Mutex<Counts>,
    /// Whether the last event could not be written.
    failing: AtomicBool,
    /// Whether events were dropped since the queue was last emptied.
    dropping: AtomicBool,
}

impl LogQueue {
    /// Adds an event.
    ///
    /// # Errors
    /// When the event cannot be stored, and the configuration refuses its request then.
    pub(super) fn put(&self, event: Vec<u8>, upload: &Upload) -> Result<(), Unlogged> {
        self.store(event, upload)?;
        if upload.trigger == UploadTrigger::Immediate && self.size().1 >= upload.chunk as u64 {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits until the queued events fill an upload.
    pub(super) async fn filled(&self) {
        self.filled.notified().await;
    }

    fn store(&self, event: Vec<u8>, upload: &Upload) -> Result<(), Unlogged> {
        if upload.rate.is_some_and(|rate| !self.allowance.take(rate)) {
            self.count(|counts| counts.too_fast += 1);
            return Ok(());
        }
        loop {
            let Some(spool) = self.spool.load_full() else {
                let dropped = self.memory.put(event, upload);
                if dropped > 0 {
                    self.count(|counts| counts.no_room += dropped);
                }
                return Ok(());
            };
            let taken = spool.take(&event);
            if taken.dropped > 0 {
                self.count(|counts| counts.no_room += taken.dropped);
                // Logged once, because a full buffer drops decisions repeatedly.
                if !self.dropping.swap(true, Ordering::Relaxed) {
                    error!("the disk buffer is full: the oldest decisions are dropped");
                }
            }
            match taken.written {
                Ok(()) => {
                    self.works();
                    return Ok(());
                }
                // Another buffer has just replaced this one.
                Err(Unwritten::Closed) => {}
                Err(error) => return self.fail(&error, spool.disk().full),
            }
        }
    }

    /// Returns the configured disk buffer, if any: an existing one, or a new one.
    ///
    /// # Errors
    /// When its directory cannot be used.
    pub(in crate::plugins) fn prepare(
        &self,
        disk: Option<&Disk>,
    ) -> Result<Option<Arc<DiskBuffer>>, String> {
        let Some(disk) = disk else {
            return Ok(None);
        };
        let retired = self.retired().clone();
        let mut known = retired.into_iter().chain(self.spool.load_full());
        match known.find(|spool| spool.is_at(&disk.directory)) {
            Some(spool) => Ok(Some(spool)),
            None => DiskBuffer::open(disk).map(Some),
        }
    }

    /// Queues events in this disk buffer, or in memory, from now on. Events queued elsewhere stay
    /// there until they are sent.
    pub(in crate::plugins) fn adopt(&self, spool: Option<Arc<DiskBuffer>>, disk: Option<&Disk>) {
        let mut retired = self.retired();
        if let (Some(spool), Some(disk)) = (&spool, disk) {
            retired.retain(|other| !Arc::ptr_eq(other, spool));
            if let Err(error) = spool.configure(disk) {
                error!(why = %error, "decisions are not synchronised with the disk");
            }
        }
        let previous = self.spool.swap(spool.clone());
        if let Some(previous) = previous
            && !spool.is_some_and(|spool| Arc::ptr_eq(&previous, &spool))
        {
            retired.push(previous);
        }
    }

    /// Sources of events, in the order in which they are sent.
    pub(super) fn sources(&self) -> Vec<Source> {
        let retired: Vec<_> = self.retired().iter().cloned().map(Source::Disk).collect();
        let memory = Source::Memory(Arc::clone(&self.memory));
        let now = self.spool.load_full().map(Source::Disk);
        retired.into_iter().chain([memory]).chain(now).collect()
    }

    /// Closes the retired buffers that are empty, after everything was sent.
    pub(super) fn release(&self) {
        self.dropping.store(false, Ordering::Relaxed);
        self.retired().retain(|spool| !spool.close_if_empty());
    }

    /// Number of queued events, and their bytes.
    pub(in crate::plugins) fn size(&self) -> (u64, u64) {
        let (mut events, mut bytes) = self.memory.size();
        let retired = self.retired();
        for spool in retired.iter().chain(self.spool.load().as_ref()) {
            let (more, longer) = spool.size();
            events += more;
            bytes += longer;
        }
        (events, bytes)
    }

    /// Status of the disk buffer for reports, if there is one.
    pub(in crate::plugins) fn report(&self) -> Option<Value> {
        let disk = self.spool.load().as_ref()?.disk();
        let (events, bytes) = self.size();
        let counts = self.counts();
        Some(Value::object([
            ("type", Value::from("disk")),
            ("events", Value::from(events)),
            ("size_bytes", Value::from(bytes)),
            ("size_limit_bytes", Value::from(disk.bytes)),
            ("dropped", Value::from(counts.no_room)),
            ("write_failed", Value::from(counts.unwritten)),
            ("refused", Value::from(counts.refused)),
            ("damaged", Value::from(counts.damaged)),
            ("failing", Value::from(self.failing.load(Ordering::Relaxed))),
        ]))
    }

    /// Current counters.
    pub(in crate::plugins) fn counts(&self) -> Counts {
        *self.counted()
    }

    /// Updates the counters.
    pub(super) fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.counted());
    }

    fn works(&self) {
        if self.failing.load(Ordering::Relaxed) && self.failing.swap(false, Ordering::Relaxed) {
            info!("decisions are written to disk again");
        }
    }

    fn fail(&self, error: &Unwritten, full: BufferFull) -> Result<(), Unlogged> {
        if !self.failing.swap(true, Ordering::Relaxed) {
            error!(why = %error, "decisions cannot be written to disk");
        }
        self.count(|counts| match (full, error) {
            (BufferFull::Refuse, _) => counts.refused += 1,
            (BufferFull::Drop, Unwritten::Full) => counts.no_room += 1,
            (BufferFull::Drop, _) => counts.unwritten += 1,
        });
        match full {
            BufferFull::Refuse => Err(Unlogged),
            BufferFull::Drop => Ok(()),
        }
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Arc<DiskBuffer>>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counted(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
