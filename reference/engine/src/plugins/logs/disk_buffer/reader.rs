//! Reads undelivered records.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use bytes::Bytes;

use super::appender::{Appender, ReadableRecords};
use super::scanner::Scanner;
use super::{lock, segment};
use crate::plugins::logs::entry::{Entry, fitting};

/// A segment is skipped after this many consecutive read errors.
const MAX_FAILURES: u32 = 5;

/// Reads undelivered records on demand.
#[derive(Debug)]
pub(super) struct Reader {
    /// Open segment, by the number of its first record.
    open: Option<(u64, Scanner)>,
    /// Number of the next record to read.
    next: u64,
    /// Events that are read, but not delivered.
    window: VecDeque<Entry>,
    /// Consecutive read errors of the open segment.
    failures: u32,
    /// Number of damaged records skipped since `take_damaged` was last called.
    damaged: u64,
}

impl Reader {
    /// Creates a reader that starts at the record with this number.
    pub(super) fn new(next: u64) -> Self {
        Self {
            open: None,
            next,
            window: VecDeque::new(),
            failures: 0,
            damaged: 0,
        }
    }

    /// Returns the oldest events of at most `bytes` bytes together, at least one if there is any.
    pub(super) fn oldest(
        &mut self,
        bytes: usize,
        directory: &Path,
        appender: &Mutex<Appender>,
    ) -> io::Result<Vec<Entry>> {
        self.forget_before(lock(appender).position());
        let mut sum: usize = self.window.iter().map(|entry| entry.event.len()).sum();
        while sum <= bytes || self.window.is_empty() {
            // The lock is not held while reading from disk.
            let readable = lock(appender).readable(self.next);
            let Some(readable) = readable else {
                break;
            };
            if let Some(entry) = self.read(readable, directory, appender)? {
                sum += entry.event.len();
                self.window.push_back(entry);
            }
        }
        Ok(fitting(&self.window, bytes))
    }

    /// Discards the events before a number, which are delivered or dropped.
    pub(super) fn forget_before(&mut self, number: u64) {
        while self
            .window
            .front()
            .is_some_and(|entry| entry.number < number)
        {
            self.window.pop_front();
        }
        self.next = self.next.max(number);
    }

    /// Number of the next record to read.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns and resets the number of damaged records that were skipped.
    pub(super) fn take_damaged(&mut self) -> u64 {
        std::mem::take(&mut self.damaged)
    }

    /// Reads one record of a segment. Returns `None` if the rest of the segment is damaged,
    /// although more records are expected.
    fn read(
        &mut self,
        readable: ReadableRecords,
        directory: &Path,
        appender: &Mutex<Appender>,
    ) -> io::Result<Option<Entry>> {
        self.next = self.next.max(readable.segment.first);
        match self.scan(readable, directory) {
            Ok(Some(entry)) => {
                self.failures = 0;
                self.pass(entry.number);
                self.next += 1;
                Ok(Some(entry))
            }
            Ok(None) => {
                // The segment may have been dropped meanwhile. Then its records are already counted
                // as dropped.
                self.forget_before(lock(appender).position());
                self.pass(readable.end);
                Ok(None)
            }
            Err(error) if self.failures < MAX_FAILURES => {
                self.failures += 1;
                self.open = None;
                Err(error)
            }
            Err(error) => {
                tracing::error!(why = %error, "part of the decision log cannot be read and is skipped");
                self.failures = 0;
                self.pass(readable.end);
                Ok(None)
            }
        }
    }

    fn scan(&mut self, readable: ReadableRecords, directory: &Path) -> io::Result<Option<Entry>> {
        let first = readable.segment.first;
        let scanner = match &mut self.open {
            Some((number, scanner)) if *number == first => scanner,
            open => {
                let scanner = match Scanner::open(&segment::path(directory, first)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    scanner => scanner?,
                };
                &mut open.insert((first, scanner)).1
            }
        };
        while let Some(found) = scanner.next(readable.segment.length)? {
            if (self.next..readable.end).contains(&found.number) {
                return Ok(Some(Entry {
                    number: found.number,
                    event: Bytes::from(found.event),
                }));
            }
        }
        Ok(None)
    }

    /// Advances to a record, and counts the skipped ones as damaged.
    fn pass(&mut self, number: u64) {
        let damaged = number.saturating_sub(self.next);
        if damaged > 0 {
            tracing::error!(damaged, "damaged records of the decision log are skipped");
        }
        self.damaged += damaged;
        self.next = self.next.max(number);
    }
}
