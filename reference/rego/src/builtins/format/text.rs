//! Formats strings.

use std::fmt::Write as _;

use super::{Flags, Formatter};
use crate::value::{Characters, escape, escape_code, quoted_bytes};

impl Formatter<'_, '_> {
    /// Appends a string; returns false if the verb does not apply.
    pub(super) fn text(&mut self, text: &[u8], verb: char, flags: Flags) -> bool {
        match verb {
            'v' if flags.source => self.quoted(text, flags),
            'v' | 's' => self.unquoted(text, flags),
            'q' => self.quoted(text, flags),
            'x' | 'X' => self.hexadecimal_text(text, verb, flags),
            _ => return false,
        }
        true
    }

    /// Appends a string truncated to the precision.
    pub(super) fn unquoted(&mut self, text: &[u8], flags: Flags) {
        self.pad_bytes(cut(text, flags), flags);
    }

    fn quoted(&mut self, text: &[u8], flags: Flags) {
        let text = cut(text, flags);
        let raw = str::from_utf8(text).ok();
        let rendered = match raw.filter(|text| flags.sharp && is_raw(text)) {
            Some(text) => format!("`{text}`"),
            None if flags.plus => ascii_quoted(text),
            None => quoted_bytes(text),
        };
        self.pad(&rendered, flags);
    }

    /// Appends the bytes of a string in hexadecimal up to the precision, with optional spaces.
    fn hexadecimal_text(&mut self, text: &[u8], verb: char, flags: Flags) {
        let count = flags.precision.unwrap_or(text.len());
        let text = text.get(..count).unwrap_or(text);
        let prefix = match (flags.sharp, verb) {
            (false, _) => "",
            (true, 'x') => "0x",
            (true, _) => "0X",
        };
        let mut rendered = String::with_capacity(text.len() * 2);
        for (at, byte) in text.iter().enumerate() {
            if at > 0 && flags.space {
                rendered.push(' ');
            }
            if at == 0 || flags.space {
                rendered.push_str(prefix);
            }
            // Writing to a string does not fail.
            let _ = match verb {
                'x' => write!(rendered, "{byte:02x}"),
                _ => write!(rendered, "{byte:02X}"),
            };
        }
        self.pad(&rendered, flags);
    }
}

/// Truncates a string to the precision in characters.
fn cut(text: &[u8], flags: Flags) -> &[u8] {
    let Some(count) = flags.precision.filter(|count| *count < text.len()) else {
        return text;
    };
    let characters = Characters::of(text);
    let end = characters.as_str().char_indices().nth(count);
    match end {
        Some((end, _)) => characters.bytes(0..end),
        None => text,
    }
}

/// Whether a string can be written between backquotes.
fn is_raw(text: &str) -> bool {
    let is_control = |character: char| u32::from(character) < 0x20 && character != '\t';
    !text.contains(['`', '\u{7f}', '\u{feff}']) && !text.contains(is_control)
}

/// Quotes a string, with escapes for non-ASCII characters.
fn ascii_quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            // Writing to a string does not fail.
            let _ = match character {
                '"' => out.write_str("\\\""),
                other if other.is_ascii() => escape(other, &mut out),
                other => escape_code(other, &mut out),
            };
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// Quotes a character with single quotes.
pub(super) fn quoted_character(character: char, flags: Flags) -> String {
    let mut text = String::from("'");
    // Writing to a string does not fail.
    let _ = match character {
        '\'' => text.write_str("\\'"),
        other if flags.plus && !other.is_ascii() => escape_code(other, &mut text),
        other => escape(other, &mut text),
    };
    text.push('\'');
    text
}
