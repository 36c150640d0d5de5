//! Encoding of values as Rego literals.

use std::fmt::{self, Write};

use super::Value;

/// Formats a value in Rego syntax: sets in braces, a space after commas and colons. Output that is
/// too large is truncated.
#[derive(Debug)]
pub struct Literal<'v>(pub &'v Value);

/// Maximum number of values that are formatted of one value, including those within it.
const MAX_SHOWN: usize = 1 << 20;

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = MAX_SHOWN;
        show(self.0, f, &mut left)
    }
}

/// Writes a value, but at most `left` of the values within it.
fn show(value: &Value, f: &mut fmt::Formatter<'_>, left: &mut usize) -> fmt::Result {
    if *left == 0 {
        return f.write_str("…");
    }
    *left -= 1;
    match value {
        Value::Null => f.write_str("null"),
        Value::Bool(value) => write!(f, "{value}"),
        Value::Number(number) => write!(f, "{number}"),
        Value::String(text) => quote(text, f),
        Value::Bytes(bytes) => quote_bytes(bytes.as_bytes(), f),
        Value::Array(items) => list(items.iter(), ["[", "]"], f, left),
        Value::Set(members) if members.is_empty() => f.write_str("set()"),
        Value::Set(members) => list(members.iter(), ["{", "}"], f, left),
        Value::Object(members) => {
            f.write_str("{")?;
            for (at, (key, value)) in members.iter().enumerate() {
                f.write_str(if at > 0 { ", " } else { "" })?;
                show(key, f, left)?;
                f.write_str(": ")?;
                show(value, f, left)?;
                if *left == 0 {
                    break;
                }
            }
            f.write_str("}")
        }
    }
}

fn list<'v>(
    items: impl Iterator<Item = &'v Value>,
    [open, close]: [&str; 2],
    f: &mut fmt::Formatter<'_>,
    left: &mut usize,
) -> fmt::Result {
    f.write_str(open)?;
    for (at, item) in items.enumerate() {
        f.write_str(if at > 0 { ", " } else { "" })?;
        show(item, f, left)?;
        if *left == 0 {
            break;
        }
    }
    f.write_str(close)
}

/// Quotes a string, and escapes invisible characters.
pub(crate) fn quoted(text: &str) -> String {
    quoted_bytes(text.as_bytes())
}

/// Quotes a string, and escapes invisible characters and bytes that are not UTF-8.
pub(crate) fn quoted_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    // Writing to a string does not fail.
    let _ = quote_bytes(bytes, &mut out);
    out
}

fn quote_bytes(bytes: &[u8], out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        escape_text(chunk.valid(), out)?;
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    out.write_char('"')
}

fn quote(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    escape_text(text, out)?;
    out.write_char('"')
}

fn escape_text(text: &str, out: &mut impl Write) -> fmt::Result {
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            other => escape(other, out)?,
        }
    }
    Ok(())
}

/// Writes one character, escaped if it is invisible.
pub(crate) fn escape(character: char, out: &mut impl Write) -> fmt::Result {
    match character {
        '\\' => out.write_str("\\\\"),
        '\u{7}' => out.write_str("\\a"),
        '\u{8}' => out.write_str("\\b"),
        '\u{c}' => out.write_str("\\f"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\u{b}' => out.write_str("\\v"),
        '\0'..=' ' | '\u{7f}' if character != ' ' => write!(out, "\\x{:02x}", u32::from(character)),
        _ if visible(character) => out.write_char(character),
        _ => escape_code(character, out),
    }
}

/// Writes the code of a character as an escape.
pub(crate) fn escape_code(character: char, out: &mut impl Write) -> fmt::Result {
    let code = u32::from(character);
    if code < 0x1_0000 {
        write!(out, "\\u{code:04x}")
    } else {
        write!(out, "\\U{code:08x}")
    }
}

/// Whether a character is visible: not a control or format character, nor a space other than
/// U+0020, nor in a private use area.
fn visible(character: char) -> bool {
    character == ' '
        || !(character.is_control()
            || character.is_whitespace()
            || matches!(character,
                '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}'
                | '\u{f0000}'..='\u{10ffff}'))
}
