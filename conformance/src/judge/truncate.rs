//! Truncation of responses in transcripts and reports.

use crate::sha256::sha256;

/// Longest text of a body that stands in for a fact that does not hold.
const EXCERPT: usize = 400;

/// Longest value of a fact, in bytes.
const LONGEST: usize = 64 * 1024;

/// The value of a fact. One that is longer than any a scenario expects is told by its start and its
/// digest, so that what a server answers cannot swell transcripts and reports.
pub(super) fn truncate(value: String) -> String {
    if value.len() <= LONGEST {
        return value;
    }
    let start = value.get(..value.floor_char_boundary(LONGEST));
    format!(
        "{}… ({} bytes, SHA-256 {})",
        start.unwrap_or_default(),
        value.len(),
        sha256(value.as_bytes())
    )
}

/// The text, or its beginning and how long it is.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().nth(EXCERPT).is_none() {
        return text.to_owned();
    }
    let start: String = text.chars().take(EXCERPT).collect();
    format!("{start}… ({} bytes)", text.len())
}
