//! Reads undelivered records.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use bytes::Bytes;

use super::appender::{Appender, Readable};
use super::scanner::Scanner;
use super::{lock, segment};
use crate::engine::plugins::logs::entry::{Entry, fitting};

/// A segment that cannot be read so many times in a row is passed over.
const MAX_FAILURES: u32 = 5;

/// Reads what waits, no more of it than is asked for.
#[derive(Debug)]
pub(super) struct Reader {
    /// The segment that is read, by the number of its first record.
    open: Option<(u64, Scanner)>,
    /// The number of the next record to read.
    next: u64,
    /// What was read and is not delivered.
    window: VecDeque<Entry>,
    /// How often in a row the segment could not be read.
    failures: u32,
    /// How many damaged records were passed over since that was asked.
    damaged: u64,
}

impl Reader {
    /// Begins with the record of a number.
    pub(super) fn new(next: u64) -> Self {
        Self {
            open: None,
            next,
            window: VecDeque::new(),
            failures: 0,
            damaged: 0,
        }
    }

    /// The oldest events that have at most so many bytes together, at least one if there is any.
    pub(super) fn oldest(
        &mut self,
        bytes: usize,
        directory: &Path,
        appender: &Mutex<Appender>,
    ) -> io::Result<Vec<Entry>> {
        self.forget_before(lock(appender).position());
        let mut sum: usize = self.window.iter().map(|entry| entry.event.len()).sum();
        while sum <= bytes || self.window.is_empty() {
            // The guard is not held while the disk is waited for.
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

    /// Forgets the events before a number, which are delivered or dropped.
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

    /// The number of the next record to read.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// How many damaged records were passed over since this was asked last.
    pub(super) fn take_damaged(&mut self) -> u64 {
        std::mem::take(&mut self.damaged)
    }

    /// Reads one record of a segment. There may be none although its numbers say so: then the rest
    /// of the segment is damaged.
    fn read(
        &mut self,
        readable: Readable,
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
                // It may have been dropped meanwhile, which is counted where that is done.
                self.forget_before(lock(appender).position());
                self.pass(readable.end);
                Ok(None)
            }
            Err(why) if self.failures < MAX_FAILURES => {
                self.failures += 1;
                self.open = None;
                Err(why)
            }
            Err(why) => {
                tracing::error!(%why, "part of the decision log cannot be read and is skipped");
                self.failures = 0;
                self.pass(readable.end);
                Ok(None)
            }
        }
    }

    fn scan(&mut self, readable: Readable, directory: &Path) -> io::Result<Option<Entry>> {
        let first = readable.segment.first;
        let scanner = match &mut self.open {
            Some((number, scanner)) if *number == first => scanner,
            open => {
                let scanner = match Scanner::open(&segment::path(directory, first)) {
                    Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
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

    /// Goes on with a record, and counts those before it as damaged.
    fn pass(&mut self, number: u64) {
        let damaged = number.saturating_sub(self.next);
        if damaged > 0 {
            tracing::error!(damaged, "damaged records of the decision log are skipped");
        }
        self.damaged += damaged;
        self.next = self.next.max(number);
    }
}
