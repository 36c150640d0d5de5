//! Escapes characters that would look like other log lines or control a terminal.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Whether a character must be escaped: a control character, a line or paragraph separator, or a
/// bidirectional formatting character.
pub(super) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes control characters in a string as in Rust.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| match is_control(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Escapes the control characters that JSON allows unescaped in strings. Line breaks occur only
/// between values and stay.
pub(super) fn json(json: String) -> String {
    let escapes = |c: char| c != '\n' && is_control(c);
    if !json.contains(escapes) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        let written: fmt::Result = match escapes(c) {
            // All control characters that are escaped are below 0x10000.
            true => write!(escaped, "\\u{:04x}", u32::from(c)),
            false => escaped.write_char(c),
        };
        // Writes to a string always succeed.
        debug_assert!(written.is_ok());
    }
    escaped
}
