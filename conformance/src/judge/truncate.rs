//! Truncation of responses in transcripts and reports.

use crate::sha256::sha256;

/// Maximum length of a body that is shown for a failed fact, in characters.
const EXCERPT: usize = 400;

/// Maximum length of a fact's value, in bytes.
const LONGEST: usize = 64 * 1024;

/// Truncates the value of a fact that is longer than any scenario expects to its start and its
/// digest, so that responses cannot inflate transcripts and reports.
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

/// Returns the string, or its start and its length.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().nth(EXCERPT).is_none() {
        return text.to_owned();
    }
    let start: String = text.chars().take(EXCERPT).collect();
    format!("{start}… ({} bytes)", text.len())
}
