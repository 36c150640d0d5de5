//! Lines of the log on their way out.
//!
//! Whoever logs only puts a line into a queue, and a thread of its own writes. So a log that nobody
//! reads, or a disk that does not answer, holds up no answer and not the end of the process. What
//! does not fit into the queue is dropped and counted.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::error;

/// How many bytes of lines wait at most. A longer line waits alone.
const MAX_BYTES: usize = 8 << 20;

/// How long the end of the process waits until everything is written.
const FLUSH: Duration = Duration::from_millis(500);

/// How many lines of the log of this process were dropped.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// How many lines of the log of this process were dropped since its start, since nobody read it
/// quickly enough.
pub(crate) fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// The queue.
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
    /// The lines that were dropped since the log last said so.
    dropped: u64,
}

/// Waits, when it is dropped, for what is still to be written, but not long.
#[derive(Debug)]
#[must_use = "the log is written until this is dropped"]
pub struct LogGuard(Queue);

impl Queue {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// There is no thread.
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

    /// Puts a line in, or counts it as dropped.
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

    /// Writes lines as they come. What cannot be written is lost: there is no other place for it.
    fn write_lines(&self, mut out: impl Write) {
        loop {
            let (line, dropped) = self.next();
            out.write_all(&line).ok();
            let mut waiting = self.waiting();
            waiting.is_writing = false;
            waiting.bytes = waiting.bytes.saturating_sub(line.len());
            drop(waiting);
            self.0.changed.notify_all();
            if dropped > 0 {
                error!(lines = dropped, "The log was not read, lines were dropped.");
            }
        }
    }

    /// Waits for the next line; if it is the last one, also how many were dropped behind it.
    fn next(&self) -> (Vec<u8>, u64) {
        let waiting = self.waiting();
        let is_empty = |waiting: &mut Waiting| waiting.lines.is_empty();
        let waiting = self.0.changed.wait_while(waiting, is_empty);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let line = waiting.lines.pop_front().unwrap_or_default();
        waiting.is_writing = true;
        let dropped = match waiting.lines.is_empty() {
            true => std::mem::take(&mut waiting.dropped),
            false => 0,
        };
        (line, dropped)
    }
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

    use super::{MAX_BYTES, Queue, dropped_lines};

    /// Nobody reads, so the writer blocks; whoever logs does not.
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
        // It ends although nothing was read.
        drop(guard);
        let kept = (many - dropped) * line.len();
        let mut read = vec![0; kept];
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
        // The stream stays open, so that reading ends with nothing more to read.
        reader.read_to_string(&mut text).err();
        assert_eq!(text.lines().count(), 100, "{text}");
        Ok(())
    }
}
