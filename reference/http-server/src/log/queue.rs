//! Queue of log lines, written by a dedicated thread.
//!
//! Logging only appends a line to a queue, and a dedicated thread writes. So a log that nobody
//! reads, or a disk that does not respond, blocks neither a response nor the end of the process.
//! Lines that do not fit in the queue are dropped and counted.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::error;

/// Maximum bytes of queued lines. A longer line is queued alone.
const MAX_BYTES: usize = 8 << 20;

/// Maximum time that the end of the process waits for the writer.
const FLUSH: Duration = Duration::from_millis(500);

/// Number of dropped lines of this process.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Number of log lines of this process that were dropped since its start, because they could not be
/// written quickly enough.
pub fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Shared queue of lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether a line is being written.
    is_writing: bool,
    /// Number of dropped lines that the log has not reported yet.
    dropped: u64,
}

/// Guard of the log. When dropped, waits until pending lines are written, for a limited time.
#[derive(Debug)]
#[must_use = "the log is written until this is dropped"]
pub struct LogGuard(Queue);

impl Queue {
    /// Starts the writer thread.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn start(self, out: impl Write + Send + 'static) -> io::Result<LogGuard> {
        let queue = self.clone();
        let run = move || queue.write_lines(out);
        thread::Builder::new().name("log".to_owned()).spawn(run)?;
        Ok(LogGuard(self))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        let waiting = self.0.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a line, or counts it as dropped.
    fn push(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        let bytes = waiting.bytes.saturating_add(line.len());
        if waiting.bytes > 0 && bytes > MAX_BYTES {
            waiting.dropped += 1;
            DROPPED.fetch_add(1, Ordering::Relaxed);
            return;
        }
        waiting.bytes = bytes;
        waiting.lines.push_back(line.to_vec());
        self.0.changed.notify_all();
    }

    /// Writes lines as they arrive. A line that cannot be written is lost, as there is no
    /// alternative output, and counted as dropped.
    fn write_lines(&self, mut out: impl Write) {
        // Whether the last line was written incompletely.
        let mut is_torn = false;
        loop {
            let line = self.next();
            let is_written = write_line(&mut out, &line, &mut is_torn);
            match self.written(&line, is_written) {
                0 => {}
                lines => error!(
                    lines,
                    "Log lines were dropped: the queue was full or the log could not be written."
                ),
            }
        }
    }

    /// Waits for the next line, and removes it from the queue.
    fn next(&self) -> Vec<u8> {
        let waiting = self.waiting();
        let is_empty = |waiting: &mut Waiting| waiting.lines.is_empty();
        let waiting = self.0.changed.wait_while(waiting, is_empty);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        waiting.is_writing = true;
        waiting.lines.pop_front().unwrap_or_default()
    }

    /// Records that a line is no longer pending; one that could not be written counts as dropped.
    /// Returns the number of dropped lines to report now, after all queued lines.
    fn written(&self, line: &[u8], is_written: bool) -> u64 {
        let mut waiting = self.waiting();
        waiting.is_writing = false;
        waiting.bytes = waiting.bytes.saturating_sub(line.len());
        self.0.changed.notify_all();
        if !is_written {
            waiting.dropped += 1;
            DROPPED.fetch_add(1, Ordering::Relaxed);
            return 0;
        }
        match waiting.lines.is_empty() {
            true => std::mem::take(&mut waiting.dropped),
            false => 0,
        }
    }
}

/// Writes a line, after ending an incomplete one; returns whether it was written completely.
fn write_line(out: &mut impl Write, line: &[u8], is_torn: &mut bool) -> bool {
    if *is_torn && out.write_all(b"\n").is_err() {
        return false;
    }
    *is_torn = false;
    let mut left = line;
    while !left.is_empty() {
        match out.write(left) {
            Err(failure) if failure.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return false,
            Ok(written) => {
                left = left.get(written..).unwrap_or_default();
                *is_torn = !left.is_empty();
            }
        }
    }
    true
}

impl Write for &Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let queue = &self.0;
        let is_busy = |waiting: &mut Waiting| waiting.is_writing || !waiting.lines.is_empty();
        let waited = queue
            .0
            .changed
            .wait_timeout_while(queue.waiting(), FLUSH, is_busy);
        drop(waited);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;

    use super::{MAX_BYTES, Queue, dropped_lines, write_line};

    /// A disk with space for `capacity` bytes.
    struct Disk {
        capacity: usize,
        contents: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let part = bytes.iter().take(self.capacity);
            self.contents.extend(part);
            match bytes.len().min(self.capacity) {
                0 => Err(io::ErrorKind::StorageFull.into()),
                written => {
                    self.capacity -= written;
                    Ok(written)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_torn_line_is_ended_before_the_next() {
        let (mut disk, mut is_torn) = (
            Disk {
                capacity: 5,
                contents: Vec::new(),
            },
            false,
        );
        for (capacity, line, expected) in [
            (0, "one\n", true),
            (0, "two\n", false),
            (0, "three\n", false),
            (9, "four\n", true),
            (0, "five\n", false),
        ] {
            disk.capacity += capacity;
            let is_written = write_line(&mut disk, line.as_bytes(), &mut is_torn);
            assert_eq!(is_written, expected, "{line}");
        }
        assert_eq!(disk.contents, b"one\nt\nfour\nfiv");
    }

    /// Nobody reads, so the writer blocks; logging does not.
    #[test]
    fn a_log_that_nobody_reads_holds_nobody_up() -> io::Result<()> {
        let (mut reader, writer) = UnixStream::pair()?;
        let queue = Queue::default();
        let guard = queue.clone().start(writer)?;
        let line = [b'x'; 1 << 16];
        let before = dropped_lines();
        let many = 2 * MAX_BYTES / line.len();
        for _ in 0..many {
            (&queue).write_all(&line)?;
        }
        let dropped = usize::try_from(dropped_lines() - before).unwrap_or(usize::MAX);
        assert!(dropped > 0 && dropped < many, "{dropped}");
        // The drop returns although nothing was read.
        drop(guard);
        let written = (many - dropped) * line.len();
        let mut read = vec![0; written];
        reader.read_exact(&mut read)?;
        assert!(read.iter().all(|byte| *byte == b'x'));
        Ok(())
    }

    #[test]
    fn what_was_logged_is_written_before_the_end() -> io::Result<()> {
        let (mut reader, writer) = UnixStream::pair()?;
        let queue = Queue::default();
        let guard = queue.clone().start(writer)?;
        for at in 0..100 {
            (&queue).write_all(format!("{at}\n").as_bytes())?;
        }
        drop(guard);
        reader.set_nonblocking(true)?;
        let mut text = String::new();
        // The stream stays open, so reading ends with an error when no more data is available.
        reader.read_to_string(&mut text).err();
        assert_eq!(text.lines().count(), 100, "{text}");
        Ok(())
    }
}
