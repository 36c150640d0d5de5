//! Sending decisions to a service.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use tokio::sync::watch;
use tracing::{debug, error};

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
    /// A compressed JSON array; nothing if its only event is too long.
    body: Option<Vec<u8>>,
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
            let Some(body) = chunk.body else {
                error!("a decision is longer than an upload may be, and dropped");
                buffer.remove_before(chunk.end, false);
                continue;
            };
            let size = body.len();
            let resource = &self.upload.resource;
            self.client
                .post(resource, &headers, Bytes::from(body))
                .await?;
            debug!(size, "decisions are uploaded");
            buffer.remove_before(chunk.end, true);
        }
        Ok(())
    }

    /// The next part of what waits before the event with a number, if there is any.
    async fn chunk(&self, end: u64) -> Result<Option<Chunk>, ServiceError> {
        let limit = self.upload.chunk;
        let buffer = &self.engine.plugins().logs;
        let (first, events) = buffer.oldest(limit.saturating_mul(RATIO));
        if events.is_empty() || first >= end {
            return Ok(None);
        }
        let packed = tokio::task::spawn_blocking(move || pack(&events, limit));
        let packed = packed.await.map_err(ServiceError::failed)?;
        let (count, body) = packed.map_err(ServiceError::failed)?;
        Ok(Some(Chunk {
            end: first + count as u64,
            body,
        }))
    }
}

/// Compresses as many of the first events as stay within the limit, and says how many they are.
fn pack(events: &[Bytes], limit: usize) -> std::io::Result<(usize, Option<Vec<u8>>)> {
    let mut count = events.len();
    loop {
        let body = compress(events.get(..count).unwrap_or(events))?;
        match count {
            _ if body.len() <= limit => return Ok((count, Some(body))),
            0 | 1 => return Ok((1, None)),
            _ => count /= 2,
        }
    }
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
