//! Activity of one connection, written by the connection and read by the connection table.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Admission of a connection: which of its requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Admission {
    /// All requests.
    Full,
    /// Probes only; other requests wait until the connection gets a full place.
    Reserve,
    /// No requests: those that waited are refused with 503 and a retry delay.
    Refused,
}

/// Reason why a connection ends before its client closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CloseReason {
    /// The server stops: requests that were already sent are still answered.
    Finish = 1,
    /// Another connection needs the place of this one.
    Yield = 2,
}

/// Length of the body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyLength {
    /// Number of bytes; zero without a body.
    Exact(u64),
    /// Chunked body, which ends with an empty line.
    Chunked,
}

/// Activity of one connection. Times are milliseconds since the connection began.
#[derive(Debug)]
pub(crate) struct Activity {
    born: Instant,
    /// Number of requests whose responses are not completely sent.
    exchanges: AtomicUsize,
    /// Number of requests so far.
    started_exchanges: AtomicU64,
    /// When the last exchange ended.
    quiet_since: AtomicU64,
    /// Whether sent bytes wait for the client to read them.
    blocked: AtomicBool,
    /// HTTP/1: whether a completely received request is being answered.
    answering: AtomicBool,
    /// HTTP/1: whether the client has closed its side while its request was answered.
    client_gone: AtomicBool,
    /// HTTP/2: number of response parts that wait for the client to read them.
    unsent: AtomicUsize,
    /// HTTP/2: when the client last read some of a response, or the first part began to wait.
    progress: AtomicU64,
    place: AtomicU8,
    /// When the first request began to wait for a full place; valid only while one waits.
    waiting_since: AtomicU64,
    /// Number of requests that wait for a full place.
    waiting: AtomicUsize,
    moved: Notify,
    leaving: AtomicU8,
    leave_notify: Notify,
    /// HTTP/1: length of the last request's body, and `u64::MAX` for a chunked one.
    body_length: AtomicU64,
    /// HTTP/1: whether the last request's body was read to its end.
    body_read: AtomicBool,
}

impl Activity {
    /// Creates the activity of a new connection.
    pub(crate) fn new(place: Admission) -> Self {
        Self {
            born: Instant::now(),
            exchanges: AtomicUsize::new(0),
            started_exchanges: AtomicU64::new(0),
            quiet_since: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
            answering: AtomicBool::new(false),
            client_gone: AtomicBool::new(false),
            unsent: AtomicUsize::new(0),
            progress: AtomicU64::new(0),
            place: AtomicU8::new(place as u8),
            waiting_since: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            moved: Notify::new(),
            leaving: AtomicU8::new(0),
            leave_notify: Notify::new(),
            body_length: AtomicU64::new(0),
            body_read: AtomicBool::new(false),
        }
    }

    /// When the connection began.
    pub(crate) fn born(&self) -> Instant {
        self.born
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn after(&self, milliseconds: u64) -> Instant {
        self.born + Duration::from_millis(milliseconds)
    }

    /// Records the start of a request.
    pub(crate) fn begin_exchange(&self, body: BodyLength) {
        let length = match body {
            BodyLength::Exact(length) => length,
            BodyLength::Chunked => u64::MAX,
        };
        self.body_length.store(length, Ordering::Relaxed);
        self.body_read.store(length == 0, Ordering::Relaxed);
        self.started_exchanges.fetch_add(1, Ordering::Relaxed);
        self.exchanges.fetch_add(1, Ordering::Release);
    }

    /// Records that a response is sent or abandoned.
    pub(crate) fn end_exchange(&self) {
        self.quiet_since.store(self.now(), Ordering::Relaxed);
        self.exchanges.fetch_sub(1, Ordering::Release);
    }

    /// Number of requests whose responses are not completely sent.
    pub(super) fn exchanges(&self) -> usize {
        self.exchanges.load(Ordering::Acquire)
    }

    /// Number of requests so far.
    pub(super) fn started_exchanges(&self) -> u64 {
        self.started_exchanges.load(Ordering::Relaxed)
    }

    /// Whether the connection waits for a request of its client.
    pub(crate) fn is_idle(&self) -> bool {
        self.exchanges() == 0 && !self.is_blocked()
    }

    /// When the connection became idle, if it is idle.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let since = self.quiet_since.load(Ordering::Relaxed);
        self.is_idle().then(|| self.after(since))
    }

    /// Whether no request has arrived yet.
    pub(crate) fn is_unused(&self) -> bool {
        self.started_exchanges() == 0
    }

    /// Length of the last request's body.
    pub(super) fn body_length(&self) -> BodyLength {
        match self.body_length.load(Ordering::Relaxed) {
            u64::MAX => BodyLength::Chunked,
            length => BodyLength::Exact(length),
        }
    }

    /// Records that the last request's body was read to its end.
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

    /// Whether sent bytes wait for the client to read them.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    pub(super) fn set_answering(&self, answering: bool) {
        self.answering.store(answering, Ordering::Relaxed);
    }

    pub(super) fn is_answering(&self) -> bool {
        self.answering.load(Ordering::Relaxed)
    }

    /// Records that the client has closed its side. The caller wakes the task of the connection.
    pub(super) fn set_client_gone(&self) {
        self.client_gone.store(true, Ordering::Relaxed);
    }

    /// Waits, in the task of an HTTP/1 connection, until its client has closed its side.
    pub(super) async fn client_gone(&self) {
        poll_fn(|_| match self.client_gone.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Records that a part of a response waits for the client to read it.
    pub(super) fn begin_part(&self) {
        if self.unsent.fetch_add(1, Ordering::Relaxed) == 0 {
            self.note_progress();
        }
    }

    /// Records that a part of a response is read or abandoned.
    pub(super) fn end_part(&self) {
        self.unsent.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records that the client has read some of a response.
    pub(super) fn note_progress(&self) {
        self.progress.store(self.now(), Ordering::Relaxed);
    }

    /// Whether responses wait for the client, and it has read nothing of them for `limit`.
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

    /// Assigns another place to the connection.
    pub(crate) fn give(&self, place: Admission) {
        self.place.store(place as u8, Ordering::Release);
        self.moved.notify_waiters();
    }

    /// Waits until the connection has a full place, or is refused.
    pub(crate) async fn admission(&self) -> Admission {
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
    pub(crate) fn waiting_since(&self) -> Option<Instant> {
        let waits = self.waiting.load(Ordering::Acquire) > 0;
        waits.then(|| self.after(self.waiting_since.load(Ordering::Relaxed)))
    }

    /// Asks the connection to end.
    pub(crate) fn leave(&self, reason: CloseReason) {
        self.leaving.fetch_max(reason as u8, Ordering::Release);
        self.leave_notify.notify_waiters();
    }

    /// Reason why the connection is asked to end, if it is.
    pub(crate) fn leaving(&self) -> Option<CloseReason> {
        match self.leaving.load(Ordering::Acquire) {
            0 => None,
            reason if reason == CloseReason::Finish as u8 => Some(CloseReason::Finish),
            _ => Some(CloseReason::Yield),
        }
    }

    /// Waits until the connection is asked to end for this reason or a stronger one.
    pub(super) async fn until_leaving(&self, least: CloseReason) {
        loop {
            let leave_notify = self.leave_notify.notified();
            if self
                .leaving()
                .is_some_and(|reason| reason as u8 >= least as u8)
            {
                return;
            }
            leave_notify.await;
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
