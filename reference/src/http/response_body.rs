//! Response bodies: short ones whole, long documents in chunks.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rego::Value;
use rego::value::{JsonChunks, Measured, NotMeasured};
use tokio::sync::Semaphore;

use super::offload::offload;

/// The longest piece of a body, in bytes. A body that is not longer is made at once.
pub(super) const PIECE: usize = 64 << 10;

/// The longest text that is compressed at once, in bytes: at the highest level that takes about
/// half a millisecond.
const COMPRESSED_AT_ONCE: usize = 8 << 10;

/// A body may be so long, in bytes. Values can share their parts, so that a short policy makes one
/// whose text fits nowhere.
const MAX_BODY: usize = 1 << 30;

/// The memory that a compressor takes, in bytes.
const COMPRESSOR: usize = 320 << 10;

/// Turns of those who measure documents, for half of the processors.
static MEASURING: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(processors.div_ceil(2))
});

/// Why an answer is not sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unwritable {
    /// It has too many bytes.
    #[error("{0}")]
    TooLong(String),
    /// The server failed.
    #[error("the answer cannot be written")]
    Failed,
}

/// The body of an answer.
#[derive(Debug, Clone)]
pub struct Body {
    content: Content,
    /// The level of compression, if it is sent compressed.
    level: Option<u32>,
}

#[derive(Debug, Clone)]
enum Content {
    /// Bytes as they are.
    Whole(Bytes),
    /// The JSON text of a value and a newline, which is made while it is sent.
    Document {
        value: LongDocument,
        pretty: bool,
        measured: Option<Measured>,
    },
}

/// A document of an answer. It may be the last one that holds its parts, which are many, so it is
/// not given up by a thread that serves connections.
#[derive(Debug, Clone)]
struct LongDocument(Value);

impl Drop for LongDocument {
    fn drop(&mut self) {
        let value = std::mem::replace(&mut self.0, Value::Null);
        offload(move || drop(value));
    }
}

impl Body {
    /// The JSON text of a document and a newline, indented by two spaces when `pretty`.
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

    /// Whether the body is longer than so many bytes, before it is compressed.
    pub(crate) fn is_longer_than(&self, limit: usize) -> bool {
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

    /// The same body, compressed by gzip.
    #[must_use]
    pub(crate) fn compressed(self, level: u32) -> Self {
        let body = Self {
            level: Some(level),
            ..self
        };
        match body.is_longer_than(COMPRESSED_AT_ONCE) {
            true => body,
            false => Self::from(body.bytes()),
        }
    }

    /// The whole body as it is sent. Servers send it in pieces; this is for those who look at it.
    pub fn bytes(&self) -> Bytes {
        if let (Content::Whole(bytes), None) = (&self.content, self.level) {
            return bytes.clone();
        }
        let mut pieces = self.clone().into_pieces();
        let mut whole = Vec::new();
        loop {
            match pieces.step() {
                Step::Piece(piece) => whole.extend_from_slice(&piece),
                Step::Nothing => {}
                Step::End => return Bytes::from(whole),
            }
        }
    }

    /// The length in bytes as it is sent, if that is known before.
    pub(super) fn length(&self) -> Option<u64> {
        let length = match &self.content {
            _ if self.level.is_some() => return None,
            Content::Whole(bytes) => bytes.len(),
            // The newline counts too.
            Content::Document { measured, .. } => measured.as_ref()?.length + 1,
        };
        u64::try_from(length).ok()
    }

    /// The memory in bytes that is taken until the body is sent. What belongs to a stored document
    /// as well takes none.
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

    /// The same body with its length, which is found away from the threads that serve connections.
    ///
    /// # Errors
    /// When it is too long.
    pub(super) async fn measure(self) -> Result<Self, Unwritable> {
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
        // However many answers are long, measuring them leaves the processors to others.
        let Ok(_turn) = MEASURING.acquire().await else {
            return Err(Unwritable::Failed);
        };
        // The value goes along, so that nothing is shared because it is measured.
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
            Ok(Err(NotMeasured::TooLong(why))) => Err(Unwritable::TooLong(why.to_string())),
            Ok(Err(NotMeasured::Cancelled)) | Err(_) => Err(Unwritable::Failed),
        }
    }

    /// The pieces that the body is sent in.
    pub(super) fn into_pieces(self) -> Pieces {
        let step = self.level.map_or(PIECE, |_| COMPRESSED_AT_ONCE);
        let source = match self.content {
            Content::Whole(bytes) => Source::Whole { bytes, step },
            Content::Document {
                value,
                pretty,
                measured,
            } => {
                let whole = value.0.clone();
                let text = match measured {
                    Some(_) => JsonChunks::of_distinct(whole, pretty),
                    None => JsonChunks::new(whole, pretty),
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
        Pieces {
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

/// Cancels work when whoever waits for it goes away.
#[derive(Debug, Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What is left of a body that is being sent.
#[derive(Debug)]
pub(super) struct Pieces {
    source: Source,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

/// What a body is made of.
#[derive(Debug)]
enum Source {
    /// The bytes that are left, and how many of them are taken at once.
    Whole { bytes: Bytes, step: usize },
    /// The text of a document, behind which a newline stands.
    Document {
        text: JsonChunks,
        _whole: LongDocument,
    },
    /// Nothing.
    Done,
}

/// What a short time's work has come to.
#[derive(Debug)]
pub(super) enum Step {
    /// Bytes to be sent.
    Piece(Bytes),
    /// Nothing yet: too little has come to be sent alone.
    Nothing,
    /// All was sent.
    End,
}

impl Pieces {
    /// Works for less than a millisecond on what is to be sent next.
    pub(super) fn step(&mut self) -> Step {
        let taken = self.source.take();
        let Some(encoder) = &mut self.encoder else {
            return taken.map_or(Step::End, Step::Piece);
        };
        let ends = taken.is_none();
        // A vector takes all that is written to it.
        let written = match taken {
            Some(bytes) => encoder.write_all(&bytes),
            None => encoder.try_finish(),
        };
        let made = encoder.get_mut();
        let enough = ends || written.is_err() || made.len() >= COMPRESSED_AT_ONCE;
        let step = match enough {
            true => Step::Piece(Bytes::from(std::mem::take(made))),
            false => Step::Nothing,
        };
        if ends {
            self.encoder = None;
        }
        step
    }

    /// Whether all was sent.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.source, Source::Done) && self.encoder.is_none()
    }

    /// Whether each step takes so long that others should have their turn behind it.
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
