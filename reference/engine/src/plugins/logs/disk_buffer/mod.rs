//! Disk buffer: segments, which are files of records, removed after delivery.
//!
//! An accepted event is in a file, so that it outlives the process. Delivery resumes at the last
//! known position; events that were sent just before a crash are sent again.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tracing::{error, info, warn};

mod appender;
mod commit;
mod position;
mod reader;
mod record;
mod recovery;
mod scanner;
mod segment;
#[cfg(test)]
mod tests;

use super::entry::Entry;
use crate::config::{BufferSync, Disk};
pub(in crate::plugins) use appender::Unwritten;
use appender::{AppendOutcome, Appender};
use commit::CommitGroup;
use position::Position;
use reader::Reader;

/// Name of the lock file.
const LOCK: &str = "lock";

/// Mode of the directory: only the owner may read it.
const MODE: u32 = 0o700;

/// Interval between two synchronisations.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// Disk buffer of events. No other process uses the same directory.
#[derive(Debug)]
pub(in crate::plugins) struct DiskBuffer {
    directory: PathBuf,
    disk: ArcSwap<Disk>,
    /// Lock file, locked for the lifetime of this buffer.
    _lock: File,
    appender: Mutex<Appender>,
    reader: Mutex<Reader>,
    position: Position,
    /// Locked during a synchronisation; waiting threads then find their records synchronised.
    syncing: Mutex<()>,
    /// Whether a thread synchronises periodically.
    ticks: AtomicBool,
}

/// Outcome of adding an event.
#[derive(Debug)]
pub(in crate::plugins) struct AddOutcome {
    pub(in crate::plugins) written: Result<(), Unwritten>,
    /// Number of older events that were dropped to free space.
    pub(in crate::plugins) dropped: u64,
}

impl DiskBuffer {
    /// Opens the directory, which is created if missing.
    ///
    /// # Errors
    /// When the directory cannot be opened, or another process uses it.
    pub(in crate::plugins) fn open(disk: &Disk) -> Result<Arc<Self>, String> {
        let wrong = |error: &dyn std::fmt::Display| {
            let directory = disk.directory.display();
            format!("the buffer directory `{directory}`: {error}")
        };
        let directory = create_directory(&disk.directory).map_err(|error| wrong(&error))?;
        let lock = match try_lock(&directory) {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => {
                return Err(wrong(&"another process uses it"));
            }
            Err(TryLockError::Error(error)) => return Err(wrong(&error)),
        };
        let opened = || {
            let (position, delivered) = Position::open(&directory)?;
            let (segments, next) = recovery::recover(&directory, delivered)?;
            let appender = Appender::new(directory.clone(), segments, delivered, next);
            Ok((position, appender))
        };
        let (position, appender) = opened().map_err(|error: io::Error| wrong(&error))?;
        let (events, bytes) = appender.size();
        if events > 0 {
            info!(events, bytes, "decisions wait on disk");
        }
        let spool = Arc::new(Self {
            directory,
            disk: ArcSwap::from_pointee(disk.clone()),
            _lock: lock,
            reader: Mutex::new(Reader::new(appender.position())),
            appender: Mutex::new(appender),
            position,
            syncing: Mutex::new(()),
            ticks: AtomicBool::new(false),
        });
        spool.tick().map_err(|error| wrong(&error))?;
        Ok(spool)
    }

    /// Whether this is the directory of the buffer.
    pub(in crate::plugins) fn is_at(&self, directory: &Path) -> bool {
        fs::canonicalize(directory).is_ok_and(|directory| directory == self.directory)
    }

    /// Applies other limits for the same directory from now on.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(in crate::plugins) fn configure(self: &Arc<Self>, disk: &Disk) -> io::Result<()> {
        self.disk.store(Arc::new(disk.clone()));
        self.appender().reopen();
        self.tick()
    }

    /// Current settings.
    pub(in crate::plugins) fn disk(&self) -> Arc<Disk> {
        self.disk.load_full()
    }

    /// Appends an event, and returns when the event is as durable as configured.
    pub(in crate::plugins) fn take(&self, event: &[u8]) -> AddOutcome {
        let disk = self.disk.load();
        let AppendOutcome { written, dropped } = self.appender().append(event, &disk);
        let written = match written {
            Ok(group) if disk.sync == BufferSync::Always => self.commit(&group),
            written => written.map(drop),
        };
        AddOutcome { written, dropped }
    }

    /// Returns the oldest events of at most `bytes` bytes together, at least one if there is any,
    /// and the number of damaged ones that were skipped.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(in crate::plugins::logs) fn oldest(&self, bytes: usize) -> (io::Result<Vec<Entry>>, u64) {
        let mut reader = lock(&self.reader);
        let entries = reader.oldest(bytes, &self.directory, &self.appender);
        let (damaged, next) = (reader.take_damaged(), reader.next());
        drop(reader);
        // If all records up to the end are damaged, delivery does not wait for them.
        if entries.as_ref().is_ok_and(Vec::is_empty) && self.appender().position() < next {
            self.remove_before(next);
        }
        (entries, damaged)
    }

    /// Number of the next event.
    pub(in crate::plugins) fn end(&self) -> u64 {
        self.appender().next()
    }

    /// Removes the events before this number, which are delivered or undeliverable.
    pub(in crate::plugins) fn remove_before(&self, number: u64) {
        lock(&self.reader).forget_before(number);
        let delivered = self.appender().deliver(number);
        if let Err(error) = self.position.save(number) {
            warn!(why = %error, "decisions may be sent again after a restart");
        }
        for segment in delivered {
            segment::remove(&self.directory, segment.first);
        }
    }

    /// Number of buffered events, and the bytes of the files.
    pub(in crate::plugins) fn size(&self) -> (u64, u64) {
        self.appender().size()
    }

    /// Closes the buffer if it is empty; returns whether it did.
    pub(in crate::plugins) fn close_if_empty(&self) -> bool {
        self.appender().close_if_empty()
    }

    /// Makes all events durable against a crash of the machine.
    fn sync(&self) {
        let group = self.appender().group();
        // A failure has already been logged.
        self.commit(&group).ok();
    }

    /// Waits until a group is synchronised. The first thread synchronises for all records written
    /// until then.
    fn commit(&self, group: &CommitGroup) -> Result<(), Unwritten> {
        let failed = || {
            Unwritten::Failed(io::Error::other(
                "the event cannot be synchronised with the disk",
            ))
        };
        let done = |synced| if synced { Ok(()) } else { Err(failed()) };
        if let Some(synced) = group.outcome() {
            return done(synced);
        }
        let _syncing = lock(&self.syncing);
        if let Some(synced) = group.outcome() {
            return done(synced);
        }
        let (written, file) = self.appender().take_group();
        let synced = file.as_ref().map_or(Ok(()), |file| file.sync_data());
        if let (Err(error), Some(file)) = (&synced, &file) {
            log_sync_failure(error);
            self.appender().abandon(file);
        }
        written.finish(synced.is_ok());
        done(group.outcome().unwrap_or_default())
    }

    /// Starts periodic synchronisation, if configured.
    fn tick(self: &Arc<Self>) -> io::Result<()> {
        let is_periodic = self.disk.load().sync == BufferSync::Interval;
        if !is_periodic || self.ticks.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let spool = Arc::downgrade(self);
        let thread = std::thread::Builder::new().name("decision-log".to_owned());
        thread.spawn(move || synchronise(&spool)).map(drop)
    }

    fn appender(&self) -> MutexGuard<'_, Appender> {
        lock(&self.appender)
    }
}

impl Drop for DiskBuffer {
    fn drop(&mut self) {
        if self.disk.load().sync != BufferSync::Never {
            self.sync();
        }
    }
}

/// Synchronises periodically while the buffer exists.
fn synchronise(spool: &Weak<DiskBuffer>) {
    loop {
        std::thread::sleep(SYNC_INTERVAL);
        let Some(spool) = spool.upgrade() else {
            return;
        };
        if spool.disk.load().sync == BufferSync::Interval {
            spool.sync();
        }
    }
}

/// Creates the directory if missing, and returns its canonical path.
fn create_directory(directory: &Path) -> io::Result<PathBuf> {
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(MODE).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::canonicalize(directory),
    }
}

fn try_lock(directory: &Path) -> Result<File, TryLockError> {
    let mut options = OpenOptions::new();
    segment::own(options.write(true).create(true).truncate(false));
    let file = options.open(directory.join(LOCK));
    let file = file.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// Logs that records may not survive a crash of the machine.
fn log_sync_failure(error: &io::Error) {
    error!(why = %error, "decisions cannot be synchronised with the disk");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
