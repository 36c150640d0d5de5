//! Upload of decisions to a service.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tracing::{debug, error};

use super::chunk::{Chunk, pack};
use super::source::Source;
use crate::config::{Upload, UploadTrigger};
use crate::plugins::Plugins;
use crate::plugins::backoff::Backoff;
use crate::plugins::service::{Client, ServiceError};
use crate::plugins::status_registry::Failure;

/// Usual minimum ratio of the bytes of events to their compressed bytes.
const RATIO: usize = 16;

/// Error code of failed decision log uploads in status reports.
const ERROR: &str = "decision_log_error";

/// Uploads queued events periodically.
#[derive(Debug)]
pub(in crate::plugins) struct Uploader {
    pub(in crate::plugins) plugins: Arc<Plugins>,
    pub(in crate::plugins) client: Arc<Client>,
    pub(in crate::plugins) upload: Upload,
}

impl Uploader {
    /// Runs until it is stopped, and then sends the rest. Events that an earlier process left on
    /// disk are sent at once.
    pub(in crate::plugins) async fn run(self, mut stop: watch::Receiver<bool>) {
        let periodic = self.upload.trigger != UploadTrigger::Manual;
        let immediate = self.upload.trigger == UploadTrigger::Immediate;
        let mut pauses = Backoff::new(self.upload.delay);
        let mut fine = true;
        let mut waited = self.upload.disk.is_some() && self.plugins.logs.size().0 > 0;
        loop {
            let stopped = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => true,
                () = std::future::ready(()), if periodic && waited => false,
                // A failed upload is not retried before its backoff ends.
                () = self.plugins.logs.filled(), if immediate && fine => false,
                () = tokio::time::sleep(pauses.next(fine)), if periodic => false,
            };
            waited = false;
            let sent = self.flush().await;
            fine = sent.is_ok();
            if let Err(error) = &sent {
                error!(why = %error, "decisions cannot be uploaded");
            }
            let failure = sent.err().map(|error| Failure {
                code: ERROR,
                message: error.to_string(),
                http_code: error.status().map(|status| status.as_u16()),
                ..Failure::default()
            });
            self.plugins.statuses.set_upload_failure(failure);
            if stopped {
                return;
            }
        }
    }

    /// Sends all events that are queued now.
    async fn flush(&self) -> Result<(), ServiceError> {
        for source in self.plugins.logs.sources() {
            self.drain(&source).await?;
        }
        self.plugins.logs.release();
        Ok(())
    }

    /// Sends all events that are queued in one source now.
    async fn drain(&self, source: &Source) -> Result<(), ServiceError> {
        let backlog = &self.plugins.logs;
        let end = source.end();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        while let Some(chunk) = self.chunk(source, end).await? {
            match chunk.body {
                None => {
                    error!("a decision is longer than an upload may be, and dropped");
                    backlog.count(|counts| counts.too_long += 1);
                }
                Some(body) => self.send(body, &headers).await?,
            }
            if chunk.without_calls {
                error!("a decision is sent without `nd_builtin_cache`, as it is too long");
                backlog.count(|counts| counts.without_calls += 1);
            }
            let source = source.clone();
            let removed = spawn_blocking(move || source.remove_before(chunk.end)).await;
            removed.map_err(ServiceError::failed)?;
        }
        Ok(())
    }

    async fn send(&self, body: Vec<u8>, headers: &HeaderMap) -> Result<(), ServiceError> {
        let (size, body) = (body.len(), Bytes::from(body));
        let sent = self.client.post(&self.upload.resource, headers, body).await;
        self.plugins.logs.count(|counts| match &sent {
            Ok(()) => counts.uploads += 1,
            Err(_) => counts.failed_uploads += 1,
        });
        debug!(size, sent = sent.is_ok(), "decisions are uploaded");
        sent
    }

    /// Packs the next chunk of events before the sequence number `end`, if there are any.
    async fn chunk(&self, source: &Source, end: u64) -> Result<Option<Chunk>, ServiceError> {
        let limit = self.upload.chunk;
        let (plugins, source) = (Arc::clone(&self.plugins), source.clone());
        let packed = spawn_blocking(move || {
            let (entries, damaged) = source.oldest(limit.saturating_mul(RATIO));
            if damaged > 0 {
                plugins.logs.count(|counts| counts.damaged += damaged);
            }
            let entries = entries?;
            match entries.first() {
                Some(first) if first.number < end => pack(&entries, limit),
                _ => Ok(None),
            }
        });
        let packed = packed.await.map_err(ServiceError::failed)?;
        packed.map_err(ServiceError::failed)
    }
}
