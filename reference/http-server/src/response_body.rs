//! Response bodies: short ones whole, long documents in chunks.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rego::Value;
use rego::value::{JsonChunks, NotMeasured, ValueSize};
use tokio::sync::Semaphore;

use super::offload::offload;

/// Maximum bytes of a piece of a body. A body up to this length is encoded at once.
pub(super) const PIECE: usize = 64 << 10;

/// Maximum bytes that are compressed at once: at the highest level that takes about half a
/// millisecond.
const COMPRESSED_AT_ONCE: usize = 8 << 10;

/// Maximum bytes of a body. Values can share their parts, so that a short policy may create one
/// whose JSON does not fit in memory.
const MAX_BODY: usize = 1 << 30;

/// Memory of a compressor, in bytes.
const COMPRESSOR: usize = 320 << 10;

/// Permits for concurrent measurements of documents: as many as half of the processors.
static MEASURING: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(processors.div_ceil(2))
});

/// Why a response cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    /// The response is too long.
    #[error("{0}")]
    TooLong(String),
    /// The server failed.
    #[error("the response cannot be encoded")]
    Failed,
}

/// Body of a response.
#[derive(Debug, Clone)]
pub struct Body {
    content: Content,
    /// Compression level, if the body is sent compressed.
    level: Option<u32>,
}

#[derive(Debug, Clone)]
enum Content {
    /// Encoded bytes.
    Whole(Bytes),
    /// JSON of a value and a newline, encoded while it is sent.
    Document {
        value: LongDocument,
        pretty: bool,
        measured: Option<ValueSize>,
    },
}

/// Document of a response. It may be the last owner of many values, so it is not dropped on a
/// connection thread.
#[derive(Debug, Clone)]
struct LongDocument(Value);

impl Drop for LongDocument {
    fn drop(&mut self) {
        let value = std::mem::replace(&mut self.0, Value::Null);
        offload(move || drop(value));
    }
}

impl Body {
    /// JSON of a document and a newline, indented by two spaces when `pretty`.
    pub(super) fn document(value: &Value, pretty: bool) -> Self {
        match value.to_json(pretty, PIECE) {
            Ok(mut text) => {
                text.push(b'\n');
                Self::from(text)
            }
            Err(_) => Self {
                content: Content::Document {
                    value: LongDocument(value.clone()),
                    pretty,
                    measured: None,
                },
                level: None,
            },
        }
    }

    /// Whether the body is longer than `limit` bytes before compression.
    pub fn is_longer_than(&self, limit: usize) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.len() > limit,
            Content::Document { .. } if limit <= PIECE => true,
            Content::Document { value, pretty, .. } => {
                let never = AtomicBool::new(false);
                let limit = limit.saturating_sub(1);
                value.0.measure(*pretty, limit, &never).is_err()
            }
        }
    }

    /// Compresses the body by gzip.
    #[must_use]
    pub fn compressed(self, level: u32) -> Self {
        let body = Self {
            level: Some(level),
            ..self
        };
        match body.is_longer_than(COMPRESSED_AT_ONCE) {
            true => body,
            false => Self::from(body.bytes()),
        }
    }

    /// Whole body as sent. Servers send it in pieces; this is for inspection.
    pub fn bytes(&self) -> Bytes {
        if let (Content::Whole(bytes), None) = (&self.content, self.level) {
            return bytes.clone();
        }
        let mut pieces = self.clone().into_pieces();
        let mut bytes = Vec::new();
        loop {
            match pieces.step() {
                NextChunk::Piece(piece) => bytes.extend_from_slice(&piece),
                NextChunk::Nothing => {}
                NextChunk::End => return Bytes::from(bytes),
            }
        }
    }

    /// Length in bytes as sent, if known in advance.
    pub(super) fn length(&self) -> Option<u64> {
        let length = match &self.content {
            _ if self.level.is_some() => return None,
            Content::Whole(bytes) => bytes.len(),
            // The newline counts, too.
            Content::Document { measured, .. } => measured.as_ref()?.length + 1,
        };
        u64::try_from(length).ok()
    }

    /// Memory in bytes that is used until the body is sent. Parts shared with a stored document are
    /// not counted.
    pub(super) fn memory(&self) -> usize {
        let compressor = self.level.map_or(0, |_| COMPRESSOR);
        compressor
            + match &self.content {
                Content::Whole(bytes) => bytes.len(),
                Content::Document { measured, .. } => {
                    2 * PIECE + measured.as_ref().map_or(0, |measured| measured.own)
                }
            }
    }

    /// Measures the length of the body, on a blocking thread if necessary.
    ///
    /// # Errors
    /// When the body is too long.
    pub(super) async fn measure(self) -> Result<Self, BodyError> {
        let Content::Document {
            value,
            pretty,
            measured: None,
        } = self.content
        else {
            return Ok(self);
        };
        let abandoned = Abandoned::default();
        let cancelled = Arc::clone(&abandoned.0);
        // The semaphore limits how many processors measure long responses.
        let Ok(_turn) = MEASURING.acquire().await else {
            return Err(BodyError::Failed);
        };
        // The value is moved to the thread, so that measuring adds no shared reference.
        let found = tokio::task::spawn_blocking(move || {
            let found = value.0.measure(pretty, MAX_BODY - 1, &cancelled)?;
            let distinct = found.hides.then(|| value.0.with_distinct_names()).flatten();
            Ok((distinct.map_or(value, LongDocument), found))
        });
        match found.await {
            Ok(Ok((value, found))) => Ok(Self {
                content: Content::Document {
                    value,
                    pretty,
                    measured: Some(found),
                },
                level: self.level,
            }),
            Ok(Err(NotMeasured::TooLong(error))) => Err(BodyError::TooLong(error.to_string())),
            Ok(Err(NotMeasured::Cancelled)) | Err(_) => Err(BodyError::Failed),
        }
    }

    /// Pieces that the body is sent in.
    pub(super) fn into_pieces(self) -> BodyChunks {
        let step = self.level.map_or(PIECE, |_| COMPRESSED_AT_ONCE);
        let source = match self.content {
            Content::Whole(bytes) => Source::Whole { bytes, step },
            Content::Document {
                value,
                pretty,
                measured,
            } => {
                let document = value.0.clone();
                let text = match measured {
                    Some(_) => JsonChunks::of_distinct(document, pretty),
                    None => JsonChunks::new(document, pretty),
                };
                let text = match self.level {
                    Some(_) => text.sized(step),
                    None => text,
                };
                Source::Document {
                    text,
                    _whole: value,
                }
            }
        };
        let encoder = |level| GzEncoder::new(Vec::new(), Compression::new(level));
        BodyChunks {
            source,
            encoder: self.level.map(encoder),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self {
            content: Content::Whole(bytes.into()),
            level: None,
        }
    }
}

/// Cancels work when its caller stops waiting.
#[derive(Debug, Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Remaining pieces of a body that is being sent.
#[derive(Debug)]
pub(super) struct BodyChunks {
    source: Source,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

/// Source of a body's bytes.
#[derive(Debug)]
enum Source {
    /// Remaining bytes, and the maximum per step.
    Whole { bytes: Bytes, step: usize },
    /// JSON of a document, followed by a newline.
    Document {
        text: JsonChunks,
        _whole: LongDocument,
    },
    /// Nothing left.
    Done,
}

/// Result of one step.
#[derive(Debug)]
pub(super) enum NextChunk {
    /// Bytes to send.
    Piece(Bytes),
    /// No output yet: too little to be sent on its own.
    Nothing,
    /// The body is complete.
    End,
}

impl BodyChunks {
    /// Produces the next output; takes less than a millisecond.
    pub(super) fn step(&mut self) -> NextChunk {
        let taken = self.source.take();
        let Some(encoder) = &mut self.encoder else {
            return taken.map_or(NextChunk::End, NextChunk::Piece);
        };
        let ends = taken.is_none();
        // Writes to a vector always succeed.
        let written = match taken {
            Some(bytes) => encoder.write_all(&bytes),
            None => encoder.try_finish(),
        };
        let compressed = encoder.get_mut();
        let enough = ends || written.is_err() || compressed.len() >= COMPRESSED_AT_ONCE;
        let step = match enough {
            true => NextChunk::Piece(Bytes::from(std::mem::take(compressed))),
            false => NextChunk::Nothing,
        };
        if ends {
            self.encoder = None;
        }
        step
    }

    /// Whether the body is complete.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.source, Source::Done) && self.encoder.is_none()
    }

    /// Whether each step takes so long that other connections should run after it.
    pub(super) fn is_work(&self) -> bool {
        self.encoder.is_some() || matches!(self.source, Source::Document { .. })
    }
}

impl Source {
    fn take(&mut self) -> Option<Bytes> {
        match self {
            Self::Whole { bytes, step } => {
                let next = bytes.split_to(bytes.len().min(*step));
                if bytes.is_empty() {
                    *self = Self::Done;
                }
                Some(next)
            }
            Self::Document { text, .. } => {
                let mut next = text.next().unwrap_or_default();
                if text.is_done() {
                    next.push(b'\n');
                    *self = Self::Done;
                }
                Some(Bytes::from(next))
            }
            Self::Done => None,
        }
    }
}
