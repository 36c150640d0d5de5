//! Scans the records of a segment and skips damage.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::record::{HEADER, Header, MARK};

/// Block size of the search for a mark, in bytes.
const BLOCK: usize = 64 << 10;

/// Sequential reader of records.
#[derive(Debug)]
pub(super) struct Scanner {
    file: File,
    /// Offset at which the next record should start.
    at: u64,
}

/// A complete record.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) event: Vec<u8>,
}

impl Scanner {
    /// Opens a file at its first record.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self { file, at: 0 })
    }

    /// Offset after the last record that was found.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Returns the next complete record that ends at or before `end`. Damaged bytes are skipped.
    pub(super) fn next(&mut self, end: u64) -> io::Result<Option<Record>> {
        let mut at = self.at;
        loop {
            if let Some(found) = self.record(at, end)? {
                self.at = at + (HEADER + found.event.len()) as u64;
                return Ok(Some(found));
            }
            match self.mark(at + 1, end)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
    }

    /// Reads the record at an offset, if it is complete.
    fn record(&self, at: u64, end: u64) -> io::Result<Option<Record>> {
        let Some(available) = end.checked_sub(at.saturating_add(HEADER as u64)) else {
            return Ok(None);
        };
        let mut header = [0; HEADER];
        if !self.read(&mut header, at)? {
            return Ok(None);
        }
        let Some(header) = Header::read(&header) else {
            return Ok(None);
        };
        // A damaged length never allocates more memory than the file has bytes.
        if u64::from(header.length) > available {
            return Ok(None);
        }
        let mut event = vec![0; header.length as usize];
        let is_complete =
            self.read(&mut event, at + HEADER as u64)? && header.matches_checksum(&event);
        let number = header.number;
        Ok(is_complete.then_some(Record { number, event }))
    }

    /// First offset at or after `from` with the mark of a record.
    fn mark(&self, from: u64, end: u64) -> io::Result<Option<u64>> {
        let mut at = from;
        while at + (HEADER as u64) <= end {
            let block = usize::try_from(end - at).unwrap_or(BLOCK).min(BLOCK);
            let mut bytes = vec![0; block];
            if !self.read(&mut bytes, at)? {
                return Ok(None);
            }
            let mut windows = bytes.windows(MARK.len());
            if let Some(place) = windows.position(|window| window == MARK) {
                return Ok(Some(at + place as u64));
            }
            // A mark may start at the end of this block.
            at += (block - MARK.len() + 1) as u64;
        }
        Ok(None)
    }

    /// Reads bytes at an offset; returns false if the file ends too early.
    fn read(&self, bytes: &mut [u8], at: u64) -> io::Result<bool> {
        match self.file.read_exact_at(bytes, at) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}
