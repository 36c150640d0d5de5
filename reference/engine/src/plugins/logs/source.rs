//! Sources of chunks: memory buffer and disk buffer.

use std::io;
use std::sync::Arc;

use super::disk_buffer::DiskBuffer;
use super::entry::Entry;
use super::memory_buffer::MemoryBuffer;

/// Source of queued events.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Memory(Arc<MemoryBuffer>),
    Disk(Arc<DiskBuffer>),
}

impl Source {
    /// Number of the next event.
    pub(super) fn end(&self) -> u64 {
        match self {
            Self::Memory(buffer) => buffer.end(),
            Self::Disk(spool) => spool.end(),
        }
    }

    /// Returns the oldest events of at most `bytes` bytes together, at least one if there is any,
    /// and the number of damaged ones that were skipped. This may block on the disk.
    pub(super) fn oldest(&self, bytes: usize) -> (io::Result<Vec<Entry>>, u64) {
        match self {
            Self::Memory(buffer) => (Ok(buffer.oldest(bytes)), 0),
            Self::Disk(spool) => spool.oldest(bytes),
        }
    }

    /// Removes the events before this number, which are sent or undeliverable. This may block on
    /// the disk.
    pub(super) fn remove_before(&self, number: u64) {
        match self {
            Self::Memory(buffer) => buffer.remove_before(number),
            Self::Disk(spool) => spool.remove_before(number),
        }
    }
}
