//! Activity of one connection, written by the connection and read by the connection table.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Which requests of a connection are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::http) enum Admission {
    /// All of them.
    Full,
    /// Those that ask how the server is; the others wait until the connection gets a full place.
    Reserve,
    /// None: those that waited are told to come back later.
    Refused,
}

/// Why a connection ends before its client closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::http) enum Leaving {
    /// The server stops: what was sent already is still answered.
    Finish = 1,
    /// Another connection needs the place.
    Yield = 2,
}

/// Length of the body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum BodyLength {
    /// In bytes; zero without a body.
    Exact(u64),
    /// In chunks, of which an empty line is the end.
    Chunked,
}

/// The state of one connection. Times are milliseconds since it began.
#[derive(Debug)]
pub(in crate::http) struct Activity {
    born: Instant,
    /// Requests whose answers are not sent whole.
    exchanges: AtomicUsize,
    /// Requests so far.
    begun: AtomicU64,
    /// When the last exchange ended.
    quiet_since: AtomicU64,
    /// Whether sent bytes wait for the client to read.
    blocked: AtomicBool,
    /// HTTP/1: whether a request is being answered, and nothing more of it is to come.
    answering: AtomicBool,
    /// HTTP/1: whether the client has closed its side while its request was answered.
    gone: AtomicBool,
    /// HTTP/2: parts of answers that wait for the client to take them.
    unsent: AtomicUsize,
    /// HTTP/2: when the client last took some of an answer, or the first part began to wait.
    progress: AtomicU64,
    place: AtomicU8,
    /// When the first request began to wait for a full place, and 0 if none does.
    waiting_since: AtomicU64,
    /// Requests that wait for a full place.
    waiting: AtomicUsize,
    moved: Notify,
    leaving: AtomicU8,
    told: Notify,
    /// HTTP/1: length of the last request's body, and `u64::MAX` for one in chunks.
    body_length: AtomicU64,
    /// HTTP/1: whether the last request's body was read to its end.
    body_read: AtomicBool,
}

impl Activity {
    /// A connection that begins.
    pub(in crate::http) fn new(place: Admission) -> Self {
        Self {
            born: Instant::now(),
            exchanges: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            quiet_since: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
            answering: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            unsent: AtomicUsize::new(0),
            progress: AtomicU64::new(0),
            place: AtomicU8::new(place as u8),
            waiting_since: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            moved: Notify::new(),
            leaving: AtomicU8::new(0),
            told: Notify::new(),
            body_length: AtomicU64::new(0),
            body_read: AtomicBool::new(false),
        }
    }

    /// When the connection began.
    pub(in crate::http) fn born(&self) -> Instant {
        self.born
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn after(&self, milliseconds: u64) -> Instant {
        self.born + Duration::from_millis(milliseconds)
    }

    /// A request has come.
    pub(in crate::http) fn begin_exchange(&self, body: BodyLength) {
        let length = match body {
            BodyLength::Exact(length) => length,
            BodyLength::Chunked => u64::MAX,
        };
        self.body_length.store(length, Ordering::Relaxed);
        self.body_read.store(length == 0, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.exchanges.fetch_add(1, Ordering::Release);
    }

    /// A request is answered, and the answer is sent or given up.
    pub(in crate::http) fn end_exchange(&self) {
        self.quiet_since.store(self.now(), Ordering::Relaxed);
        self.exchanges.fetch_sub(1, Ordering::Release);
    }

    /// Requests whose answers are not sent whole.
    pub(super) fn exchanges(&self) -> usize {
        self.exchanges.load(Ordering::Acquire)
    }

    /// Requests so far.
    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Whether the connection waits for its client to ask for something.
    pub(in crate::http) fn is_idle(&self) -> bool {
        self.exchanges() == 0 && !self.is_blocked()
    }

    /// When the connection became idle, if it is.
    pub(in crate::http) fn idle_since(&self) -> Option<Instant> {
        let since = self.quiet_since.load(Ordering::Relaxed);
        self.is_idle().then(|| self.after(since))
    }

    /// Whether no request has come yet.
    pub(in crate::http) fn is_unused(&self) -> bool {
        self.begun() == 0
    }

    /// Length of the last request's body.
    pub(super) fn body_length(&self) -> BodyLength {
        match self.body_length.load(Ordering::Relaxed) {
            u64::MAX => BodyLength::Chunked,
            length => BodyLength::Exact(length),
        }
    }

    /// The last request's body was read to its end.
    pub(super) fn set_body_read(&self) {
        self.body_read.store(true, Ordering::Relaxed);
    }

    /// Whether the last request's body was read to its end.
    pub(super) fn is_body_read(&self) -> bool {
        self.body_read.load(Ordering::Relaxed)
    }

    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    /// Whether sent bytes wait for the client to read.
    pub(in crate::http) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    pub(super) fn set_answering(&self, answering: bool) {
        self.answering.store(answering, Ordering::Relaxed);
    }

    pub(super) fn is_answering(&self) -> bool {
        self.answering.load(Ordering::Relaxed)
    }

    /// The client has closed its side. Whoever notes it wakes the task of the connection.
    pub(super) fn set_gone(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Waits, in the task of an HTTP/1 connection, until its client has closed its side.
    pub(super) async fn gone(&self) {
        poll_fn(|_| match self.gone.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// A part of an answer waits for the client to take it.
    pub(super) fn begin_part(&self) {
        if self.unsent.fetch_add(1, Ordering::Relaxed) == 0 {
            self.note_progress();
        }
    }

    /// A part of an answer is taken or given up.
    pub(super) fn end_part(&self) {
        self.unsent.fetch_sub(1, Ordering::Relaxed);
    }

    /// The client has taken some of an answer.
    pub(super) fn note_progress(&self) {
        self.progress.store(self.now(), Ordering::Relaxed);
    }

    /// Whether answers wait for the client, and it has taken nothing of any of them for so long.
    pub(super) fn is_stalled(&self, limit: Duration) -> bool {
        let last = self.after(self.progress.load(Ordering::Relaxed));
        self.unsent.load(Ordering::Relaxed) > 0 && last.elapsed() >= limit
    }

    fn place(&self) -> Admission {
        match self.place.load(Ordering::Acquire) {
            place if place == Admission::Full as u8 => Admission::Full,
            place if place == Admission::Reserve as u8 => Admission::Reserve,
            _ => Admission::Refused,
        }
    }

    /// Gives the connection another place.
    pub(in crate::http) fn give(&self, place: Admission) {
        self.place.store(place as u8, Ordering::Release);
        self.moved.notify_waiters();
    }

    /// Waits until the connection has a full place, or is refused.
    pub(in crate::http) async fn turn(&self) -> Admission {
        let mut waiting = None;
        loop {
            let moved = self.moved.notified();
            match self.place() {
                Admission::Reserve => _ = waiting.get_or_insert_with(|| Waiting::begin(self)),
                place => return place,
            }
            moved.await;
        }
    }

    /// When the first request began to wait for a full place, if one does.
    pub(in crate::http) fn waiting_since(&self) -> Option<Instant> {
        let waits = self.waiting.load(Ordering::Acquire) > 0;
        waits.then(|| self.after(self.waiting_since.load(Ordering::Relaxed)))
    }

    /// Has the connection end.
    pub(in crate::http) fn leave(&self, why: Leaving) {
        self.leaving.fetch_max(why as u8, Ordering::Release);
        self.told.notify_waiters();
    }

    /// Why the connection is to end, if it is.
    pub(in crate::http) fn leaving(&self) -> Option<Leaving> {
        match self.leaving.load(Ordering::Acquire) {
            0 => None,
            why if why == Leaving::Finish as u8 => Some(Leaving::Finish),
            _ => Some(Leaving::Yield),
        }
    }

    /// Waits until the connection is to end for this reason or a stronger one.
    pub(super) async fn until_leaving(&self, least: Leaving) {
        loop {
            let told = self.told.notified();
            if self.leaving().is_some_and(|why| why as u8 >= least as u8) {
                return;
            }
            told.await;
        }
    }
}

/// A request that waits for a full place.
struct Waiting<'a>(&'a Activity);

impl<'a> Waiting<'a> {
    fn begin(activity: &'a Activity) -> Self {
        if activity.waiting.fetch_add(1, Ordering::AcqRel) == 0 {
            let now = activity.now();
            activity.waiting_since.store(now, Ordering::Relaxed);
        }
        Self(activity)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}
