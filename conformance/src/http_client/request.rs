//! Requests as commands and scripts repeat them.

use base64::Engine as _;

use super::wire::Outgoing;

/// Maximum length of a body in a command line, in bytes.
const BODY_SHOWN: usize = 4000;

/// A request to repeat.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// Start of the URL; empty in a script, which has a variable for it.
    pub(crate) base: &'a str,
    /// Rest of the URL.
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Body<'a>,
}

/// A body as it is written in a command.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    Empty,
    Text(&'a str),
    /// The bytes in base64.
    Encoded(String),
    /// A body too long for a command line.
    Omitted,
}

impl<'a> Request<'a> {
    /// Describes a request to be sent; the start of its URL is left open.
    pub(crate) fn of(request: &'a Outgoing) -> Self {
        Self {
            method: request.method,
            base: "",
            path: &request.path,
            headers: &request.headers,
            body: Body::of(&request.body),
        }
    }
}

impl<'a> Body<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        std::str::from_utf8(bytes).map_or_else(|_| Self::Encoded(base64(bytes)), Self::text)
    }

    /// A body that is text. `curl` would read a file if it began with `@`, and a shell word cannot
    /// contain NUL.
    pub(crate) fn text(text: &'a str) -> Self {
        match text {
            "" => Self::Empty,
            text if text.starts_with('@') || text.contains('\0') => {
                Self::Encoded(base64(text.as_bytes()))
            }
            text => Self::Text(text),
        }
    }

    /// Returns the body for a command line, on which a long one is omitted.
    pub(crate) fn for_line(self) -> Self {
        match &self {
            Self::Text(text) if text.len() > BODY_SHOWN => Self::Omitted,
            Self::Encoded(text) if text.len() > BODY_SHOWN => Self::Omitted,
            _ => self,
        }
    }

    /// Returns the body in base64.
    pub(crate) fn base64(&self) -> String {
        match self {
            Self::Text(text) => base64(text.as_bytes()),
            Self::Encoded(text) => text.clone(),
            Self::Empty | Self::Omitted => String::new(),
        }
    }
}

/// Encodes bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
