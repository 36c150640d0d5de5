//! Lifetime of a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Version;
use hyper::body::{Body, Incoming};

use super::activity::{Activity, BodyLength};

/// Grace period of a request after its client has closed its side. A client that closes only its
/// sending side, after its last request, still receives responses that take no longer.
const GRACE: Duration = Duration::from_millis(100);

/// Further time for the handler to respond, once the work is cancelled.
const CANCELLED: Duration = Duration::from_millis(900);

/// Lifetime of a request from its head to the last byte of its response. At its end the work on the
/// response is cancelled.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    pub(super) cancelled: Arc<AtomicBool>,
    /// Whether the response is sent in parts, under flow control by the client.
    multiplexed: bool,
}

impl Exchange {
    /// Begins the exchange when the head of a request has arrived.
    pub(super) fn begin(activity: &Arc<Activity>, request: &hyper::Request<Incoming>) -> Self {
        let length = request.body().size_hint().exact();
        activity.begin_exchange(length.map_or(BodyLength::Chunked, BodyLength::Exact));
        Self {
            activity: Arc::clone(activity),
            cancelled: Arc::default(),
            multiplexed: request.version() == Version::HTTP_2,
        }
    }

    pub(super) fn begin_part(&self) {
        if self.multiplexed {
            self.activity.begin_part();
        }
    }

    pub(super) fn end_part(&self) {
        if self.multiplexed {
            self.activity.end_part();
        }
    }

    pub(super) fn note_progress(&self) {
        if self.multiplexed {
            self.activity.note_progress();
        }
    }

    /// Completes when the response is to be abandoned: the client has closed its side, and the work
    /// was then cancelled, but has not ended in time.
    pub(super) async fn abandoned(&self) {
        self.activity.client_gone().await;
        tokio::time::sleep(GRACE).await;
        self.cancelled.store(true, Ordering::Relaxed);
        tokio::time::sleep(CANCELLED).await;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.activity.end_exchange();
    }
}
