//! Escaping of strings for HTML, JavaScript and URL queries.

use std::fmt::Write as _;

use crate::value::escape;

/// Escapes a string for HTML.
pub(super) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        let escaped: &[u8] = match byte {
            b'"' => b"&#34;",
            b'\'' => b"&#39;",
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            0 => "\u{fffd}".as_bytes(),
            other => std::slice::from_ref(other),
        };
        out.extend_from_slice(escaped);
    }
    out
}

/// Escapes a string for a JavaScript string.
pub(super) fn js(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut escaped = String::new();
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            escaped.clear();
            // Writing to a string does not fail.
            let _ = match character {
                '\\' | '\'' | '"' => write!(escaped, "\\{character}"),
                '<' | '>' | '&' | '=' | '\0'..='\u{1f}' => {
                    write!(escaped, "\\u{:04X}", u32::from(character))
                }
                '\u{7f}' => escaped.write_char(character),
                other => escape(other, &mut escaped),
            };
            if !character.is_ascii() && escaped.starts_with('\\') {
                escaped.clear();
                let _ = write!(escaped, "\\u{:04X}", u32::from(character));
            }
            out.extend_from_slice(escaped.as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
    out
}

/// Escapes a string for a URL query.
pub(super) fn query(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b' ' => out.push(b'+'),
            b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            byte if byte.is_ascii_alphanumeric() => out.push(*byte),
            byte => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    out
}
