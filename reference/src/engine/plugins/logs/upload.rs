//! Sending decisions to a service.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use rego::value::from_json;
use tokio::sync::watch;
use tracing::{debug, error};

use super::MAX_EVENT;
use crate::engine::Engine;
use crate::engine::config::{Trigger, Upload};
use crate::engine::plugins::board::Failure;
use crate::engine::plugins::clock::Pauses;
use crate::engine::plugins::service::{Client, ServiceError};

/// Events compress to less than this part of their length, as a rule.
const RATIO: usize = 16;

/// What is wrong with an upload, as reports name it.
const ERROR: &str = "decision_log_error";

/// Sends what waits in the buffer, again and again.
#[derive(Debug)]
pub(in crate::engine::plugins) struct Uploader {
    pub(in crate::engine::plugins) engine: Engine,
    pub(in crate::engine::plugins) client: Arc<Client>,
    pub(in crate::engine::plugins) upload: Upload,
}

/// Part of what waits, as it is sent.
#[derive(Debug)]
struct Chunk {
    /// The number of the event behind the last of them.
    end: u64,
    /// A compressed JSON array; nothing if its only event is dropped.
    body: Option<Vec<u8>>,
    /// Whether its only event lacks what non-deterministic functions answered.
    without_calls: bool,
}

impl Uploader {
    /// Goes on until it is told to stop, and then sends what is left.
    pub(in crate::engine::plugins) async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut pauses = Pauses::new(self.upload.delay);
        let mut fine = true;
        loop {
            let pause = pauses.next(fine);
            let stopped = tokio::select! {
                () = tokio::time::sleep(pause), if self.upload.trigger == Trigger::Periodic => false,
                _ = stop.wait_for(|stop| *stop) => true,
            };
            let sent = self.flush().await;
            fine = sent.is_ok();
            if let Err(why) = &sent {
                error!(%why, "decisions cannot be uploaded");
            }
            let failure = sent.err().map(|why| Failure {
                code: ERROR,
                message: why.to_string(),
                http_code: why.status().map(|status| status.as_u16()),
                ..Failure::default()
            });
            self.engine.plugins().board.decision_logs(failure);
            if stopped {
                return;
            }
        }
    }

    /// Sends all that waits now.
    async fn flush(&self) -> Result<(), ServiceError> {
        let buffer = &self.engine.plugins().logs;
        let end = buffer.end();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        while let Some(chunk) = self.chunk(end).await? {
            match chunk.body {
                None => {
                    error!("a decision is longer than an upload may be, and dropped");
                    buffer.count(|counts| counts.too_long += 1);
                }
                Some(body) => self.send(body, &headers).await?,
            }
            if chunk.without_calls {
                error!("a decision is sent without `nd_builtin_cache`, as it is too long");
                buffer.count(|counts| counts.without_calls += 1);
            }
            buffer.remove_before(chunk.end);
        }
        Ok(())
    }

    async fn send(&self, body: Vec<u8>, headers: &HeaderMap) -> Result<(), ServiceError> {
        let (size, body) = (body.len(), Bytes::from(body));
        let sent = self.client.post(&self.upload.resource, headers, body).await;
        self.engine.plugins().logs.count(|counts| match &sent {
            Ok(()) => counts.uploads += 1,
            Err(_) => counts.failed_uploads += 1,
        });
        debug!(size, sent = sent.is_ok(), "decisions are uploaded");
        sent
    }

    /// The next part of what waits before the event with a number, if there is any.
    async fn chunk(&self, end: u64) -> Result<Option<Chunk>, ServiceError> {
        let limit = self.upload.chunk;
        let buffer = &self.engine.plugins().logs;
        let (first, events) = buffer.oldest(limit.saturating_mul(RATIO));
        if events.is_empty() || first >= end {
            return Ok(None);
        }
        let packed = tokio::task::spawn_blocking(move || pack(first, &events, limit));
        let packed = packed.await.map_err(ServiceError::failed)?;
        packed.map(Some).map_err(ServiceError::failed)
    }
}

/// Compresses as many of the first events as stay within the limit. One that alone does not is
/// sent without what non-deterministic functions answered, if that is enough.
fn pack(first: u64, events: &[Bytes], limit: usize) -> std::io::Result<Chunk> {
    let mut count = events.len();
    loop {
        let packed = events.get(..count).unwrap_or(events);
        let body = compress(packed)?;
        let shorter = match packed {
            _ if body.len() <= limit => None,
            [] => None,
            [only] => {
                let shorter = without_calls(only);
                let shorter = shorter.map(|event| compress(&[event])).transpose()?;
                Some(shorter.filter(|body| body.len() <= limit))
            }
            _ => {
                count /= 2;
                continue;
            }
        };
        let without_calls = matches!(shorter, Some(Some(_)));
        return Ok(Chunk {
            end: first + count as u64,
            body: shorter.unwrap_or(Some(body)),
            without_calls,
        });
    }
}

/// An event without what non-deterministic functions answered, if they were asked.
fn without_calls(event: &[u8]) -> Option<Bytes> {
    let mut event = from_json(event).ok()?;
    event.as_object_mut()?.remove("nd_builtin_cache")?;
    event.to_json(false, MAX_EVENT).ok().map(Bytes::from)
}

fn compress(events: &[Bytes]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut separator = b"[";
    for event in events {
        encoder.write_all(separator)?;
        encoder.write_all(event)?;
        separator = b",";
    }
    encoder.write_all(b"]")?;
    encoder.finish()
}
