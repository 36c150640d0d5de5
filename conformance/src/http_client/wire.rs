//! Requests as they are sent.

use bytes::Bytes;

/// A request with every placeholder filled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outgoing {
    pub(crate) method: &'static str,
    /// Path and query, exactly as sent.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// A request, ready to be sent.
#[derive(Debug)]
pub(crate) enum Wire {
    /// A request sent by the HTTP client.
    Http(Outgoing),
    /// Bytes sent directly to the socket.
    Raw(Vec<u8>),
}

/// Returns method and path of a raw request: its first two words.
pub(crate) fn request_line(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_whitespace().map(str::to_owned);
    (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    )
}
