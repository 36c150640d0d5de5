//! Values of bytes and times.

use chrono::{DateTime, FixedOffset, SecondsFormat};

use crate::Value;
use crate::builtins::pem::encode;

/// Encodes bytes as a Base64 string.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::from(encode(bytes))
}

/// Formats a time as in RFC 3339.
pub(super) fn time(time: DateTime<FixedOffset>) -> Value {
    Value::from(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}
