//! Appends records, and removes delivered segments.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::commit::CommitGroup;
use super::record;
use super::segment::{self, Segment};
use crate::config::{BufferFull, BufferSync, Disk};

/// Maximum bytes of a scratch buffer that is kept after use.
const MAX_SCRATCH: usize = 1 << 20;

/// Segments, and the open file of the last one.
#[derive(Debug)]
pub(super) struct Appender {
    directory: PathBuf,
    /// Segments, the oldest first.
    segments: VecDeque<Segment>,
    /// File of the last segment, if it is being written.
    file: Option<Arc<File>>,
    /// Bytes of all segments.
    bytes: u64,
    /// Number of the next record.
    next: u64,
    /// Number of the first record that is neither delivered nor dropped.
    position: u64,
    /// Records that wait to be synchronised.
    group: Arc<CommitGroup>,
    /// Whether there are unsynchronised records.
    unsynced: bool,
    scratch: Vec<u8>,
    /// Whether the buffer is closed for writing.
    closed: bool,
}

/// Outcome of an append.
#[derive(Debug)]
pub(super) struct AppendOutcome {
    /// Group that the event is synchronised with, or why it was not written.
    pub(super) written: Result<Arc<CommitGroup>, Unwritten>,
    /// Number of older events that were dropped to free space.
    pub(super) dropped: u64,
}

/// Reason why an event is not written.
#[derive(Debug, thiserror::Error)]
pub(in crate::plugins) enum Unwritten {
    /// There is no space for the event.
    #[error("the disk buffer is full")]
    Full,
    /// The system refuses the write.
    #[error(transparent)]
    Failed(io::Error),
    /// The buffer is closed.
    #[error("the directory is not used any more")]
    Closed,
}

/// Records of one segment that can be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadableRecords {
    /// Segment that contains the records.
    pub(super) segment: Segment,
    /// Number after the last record of the segment.
    pub(super) end: u64,
}

impl Appender {
    /// Continues after the existing segments. `next` is larger than the numbers of their records.
    pub(super) fn new(
        directory: PathBuf,
        segments: Vec<Segment>,
        position: u64,
        next: u64,
    ) -> Self {
        Self {
            directory,
            bytes: segments.iter().map(|segment| segment.length).sum(),
            position: position.max(segments.first().map_or(next, |segment| segment.first)),
            segments: segments.into(),
            file: None,
            next,
            group: Arc::default(),
            unsynced: false,
            scratch: Vec::new(),
            closed: false,
        }
    }

    /// Appends an event; drops the oldest segments to free space, if so configured.
    pub(super) fn append(&mut self, event: &[u8], disk: &Disk) -> AppendOutcome {
        let mut dropped = 0;
        let written = loop {
            let drops = disk.full == BufferFull::Drop && self.bytes > 0;
            match self.try_append(event, disk) {
                Ok(()) => break Ok(self.group()),
                Err(Unwritten::Full) if drops && record::size(event) <= disk.bytes => {
                    dropped += self.drop_oldest();
                }
                Err(error) => break Err(error),
            }
        };
        AppendOutcome { written, dropped }
    }

    /// Removes the records before a number, which are delivered. Returns the segments whose files
    /// are obsolete.
    pub(super) fn deliver(&mut self, number: u64) -> Vec<Segment> {
        self.position = self.position.max(number);
        let mut delivered = Vec::new();
        while let Some(oldest) = self.segments.front().copied()
            && oldest.length > 0
            && self.end(0) <= self.position
        {
            self.pop_oldest();
            delivered.push(oldest);
        }
        delivered
    }

    /// Oldest readable records with this number or a later one, if there are any.
    pub(super) fn readable(&self, number: u64) -> Option<ReadableRecords> {
        let segments = self.segments.iter().enumerate();
        let mut ends = segments.map(|(at, segment)| (segment, self.end(at)));
        let (segment, end) = ends.find(|(_, end)| *end > number)?;
        (end > segment.first).then_some(ReadableRecords {
            segment: *segment,
            end,
        })
    }

    /// Number of the next record.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Number of the first record that is neither delivered nor dropped.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Number of undelivered records, and the bytes of all segments.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.next.saturating_sub(self.position), self.bytes)
    }

    /// Closes the buffer for writing if it is empty; returns whether it did.
    pub(super) fn close_if_empty(&mut self) -> bool {
        self.closed = self.position >= self.next;
        self.closed
    }

    /// Opens the buffer for writing again.
    pub(super) fn reopen(&mut self) {
        self.closed = false;
    }

    /// Group of the records that wait to be synchronised.
    pub(super) fn group(&self) -> Arc<CommitGroup> {
        Arc::clone(&self.group)
    }

    /// Takes the group of unsynchronised records, with their file; later records start a new group.
    pub(super) fn take_group(&mut self) -> (Arc<CommitGroup>, Option<Arc<File>>) {
        let file = self.file.clone().filter(|_| self.unsynced);
        self.unsynced = false;
        (std::mem::take(&mut self.group), file)
    }

    /// Stops writing to a file that cannot be synchronised.
    pub(super) fn abandon(&mut self, file: &Arc<File>) {
        if self.file.as_ref().is_some_and(|now| Arc::ptr_eq(now, file)) {
            self.file = None;
        }
    }

    fn try_append(&mut self, event: &[u8], disk: &Disk) -> Result<(), Unwritten> {
        if self.closed {
            return Err(Unwritten::Closed);
        }
        let size = record::size(event);
        if self.bytes.saturating_add(size) > disk.bytes {
            return Err(Unwritten::Full);
        }
        let Err(error) = self.write(event, size, disk) else {
            return Ok(());
        };
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Err(Unwritten::Full),
            _ => {
                // The next event goes to a new file, which may succeed.
                self.file = None;
                Err(Unwritten::Failed(error))
            }
        }
    }

    fn write(&mut self, event: &[u8], size: u64, disk: &Disk) -> io::Result<()> {
        let length = self.segments.back().map_or(0, |segment| segment.length);
        if length > 0 && length.saturating_add(size) > disk.segment() {
            self.finish(disk.sync);
        }
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => self.begin(disk.sync)?,
        };
        self.scratch.clear();
        if !record::encode(self.next, event, &mut self.scratch) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let Some(segment) = self.segments.back_mut() else {
            return Err(io::Error::other("no segment is open"));
        };
        let written = file.write_all_at(&self.scratch, segment.length);
        if self.scratch.capacity() > MAX_SCRATCH {
            self.scratch = Vec::new();
        }
        if let Err(error) = written {
            // Part of the record may be in the file. If it cannot be truncated, the next record
            // overwrites it.
            file.set_len(segment.length).ok();
            return Err(error);
        }
        segment.length += size;
        self.bytes += size;
        self.next += 1;
        self.unsynced = true;
        Ok(())
    }

    /// Starts a new segment.
    fn begin(&mut self, sync: BufferSync) -> io::Result<Arc<File>> {
        // A segment without records has the same file name as the new one.
        if self.segments.back().is_some_and(|last| last.length == 0)
            && let Some(empty) = self.segments.pop_back()
        {
            segment::remove(&self.directory, empty.first);
        }
        let file = Arc::new(segment::create(&self.directory, self.next)?);
        self.segments.push_back(Segment {
            first: self.next,
            length: 0,
        });
        if sync != BufferSync::Never {
            File::open(&self.directory)?.sync_all()?;
        }
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// Closes the file of the last segment, which is first synchronised if so configured.
    fn finish(&mut self, sync: BufferSync) {
        let Some(file) = self.file.take() else {
            return;
        };
        if sync != BufferSync::Never
            && self.unsynced
            && let Err(error) = file.sync_data()
        {
            super::log_sync_failure(&error);
            std::mem::take(&mut self.group).finish(false);
        }
    }

    /// Removes the oldest segment; returns the number of lost records.
    fn drop_oldest(&mut self) -> u64 {
        let end = self.end(0);
        let Some(oldest) = self.pop_oldest() else {
            return 0;
        };
        segment::remove(&self.directory, oldest.first);
        let lost = end.saturating_sub(self.position.max(oldest.first));
        self.position = self.position.max(end);
        lost
    }

    fn pop_oldest(&mut self) -> Option<Segment> {
        let oldest = self.segments.pop_front()?;
        self.bytes -= oldest.length;
        if self.segments.is_empty() {
            self.file = None;
        }
        Some(oldest)
    }

    /// Number after the last record of the segment at an index.
    fn end(&self, at: usize) -> u64 {
        let next = self.segments.get(at + 1);
        next.map_or(self.next, |next| next.first)
    }
}
