//! Bodies in evidence.

use serde::{Deserialize, Serialize};

use super::Base64Text;
use crate::sha256::sha256;

/// Bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// No bytes.
    Empty,
    /// UTF-8 text.
    Text(String),
    /// Other bytes, in base64.
    Base64(Base64Text),
    /// The start of a body that is too long to be stored in full.
    Cut(TruncatedBody),
}

/// The start of a body, with length and hash of the whole body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruncatedBody {
    /// The stored start, in base64 unless it is UTF-8.
    pub start: Box<Payload>,
    /// Length of the whole body, in bytes.
    pub length: usize,
    /// SHA-256 of the whole body, in hexadecimal.
    pub sha256: String,
}

/// Maximum number of bytes of a body that are stored.
const STORED: usize = 1024 * 1024;

impl Payload {
    /// Creates the stored form of a body: all of it, or its start if it is longer than 1 MiB.
    pub fn stored(bytes: &[u8]) -> Self {
        Self::up_to(STORED, bytes)
    }

    /// Creates a payload of the whole body, or of its start if it is longer than `most` bytes.
    pub(crate) fn up_to(limit: usize, bytes: &[u8]) -> Self {
        if bytes.len() <= limit {
            return Self::of(bytes);
        }
        let start = match std::str::from_utf8(bytes) {
            Ok(text) => text
                .get(..text.floor_char_boundary(limit))
                .map(str::as_bytes),
            Err(_) => bytes.get(..limit),
        };
        Self::Cut(TruncatedBody {
            start: Box::new(Self::of(start.unwrap_or_default())),
            length: bytes.len(),
            sha256: sha256(bytes),
        })
    }

    /// Whether this payload is the stored form of these bytes.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Cut(cut) => {
                cut.length == bytes.len()
                    && cut.sha256 == sha256(bytes)
                    && bytes.starts_with(&cut.start.bytes())
            }
            whole => whole.bytes() == bytes,
        }
    }

    /// Whether only the start of the body is stored.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Self::Cut(_))
    }

    /// The stored string: UTF-8 text or base64.
    pub(crate) fn as_text(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Text(text) => text,
            Self::Base64(text) => text,
            Self::Cut(cut) => cut.start.as_text(),
        }
    }

    /// Creates the payload for these bytes, whatever their length.
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok("") => Self::Empty,
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(Base64Text::of(bytes)),
        }
    }

    /// The stored bytes, decoded.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Cut(cut) => cut.start.bytes(),
            Self::Empty => Vec::new(),
            Self::Text(text) => text.clone().into_bytes(),
            Self::Base64(text) => text.decode(),
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::*;

    #[test]
    fn long_bodies_are_cut_and_told_apart() {
        for (name, body) in [
            ("text", "é".repeat(STORED).into_bytes()),
            ("bytes", vec![0xff; STORED + 1]),
        ] {
            let payload = Payload::stored(&body);
            let line = serde_json::to_string(&payload).expect(name);
            assert!(line.len() < 2 * STORED, "{name}");
            let read: Payload = serde_json::from_str(&line).expect(name);
            assert_eq!(read, payload, "{name}");
            assert!(read.is_cut() && body.starts_with(&read.bytes()), "{name}");
            let mut other = body.clone();
            *other.last_mut().expect(name) ^= 1;
            assert!(read.is_of(&body) && !read.is_of(&other), "{name}");
            let Payload::Cut(cut) = &read else {
                panic!("{name}");
            };
            let altered = Payload::Cut(TruncatedBody {
                start: Box::new(Payload::of(b"else")),
                ..cut.clone()
            });
            assert!(!altered.is_of(&body), "{name}");
            let whole = body.get(..STORED).expect(name);
            assert!(!Payload::stored(whole).is_cut(), "{name}");
        }
    }
}
