//! Encoding of names and values in URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::Failed;

/// Every character that needs encoding somewhere in a URL.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Builds a path from a prefix and the segments in this member of the operation.
pub(super) fn below(prefix: &str, arguments: &Value, member: &str) -> Result<String, Failed> {
    let segments = arguments.get(member).and_then(Value::as_array);
    let mut path = prefix.to_owned();
    for segment in segments.ok_or(Failed::Unsupported)? {
        path.push('/');
        path.push_str(&encoded(segment.as_str().ok_or(Failed::Unsupported)?));
    }
    Ok(path)
}
