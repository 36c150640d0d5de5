//! Messages for JSON syntax errors, worded as clients know them.

use crate::Value;
use crate::value::{SyntaxError, from_json_prefix, lossy};

/// Describes a syntax error: an unexpected byte, or the end of the input.
pub(super) fn explained(text: &[u8], error: &SyntaxError) -> String {
    if text.iter().all(|byte| is_blank(*byte)) {
        return "EOF".to_owned();
    }
    let rest = from_error(text, error);
    let mut found = rest.first().copied();
    let before = text.len().checked_sub(rest.len() + 1);
    let in_exponent = before.and_then(|at| text.get(..at));
    let in_exponent =
        in_exponent.is_some_and(|number| number.ends_with(b"e") || number.ends_with(b"E"));
    let before = before.and_then(|at| text.get(at)).copied();
    let within = match error.message {
        "expected nothing after the value" => return after_value(rest),
        "expected a value" => match misspelt(rest) {
            Some(message) => return message,
            None => "looking for beginning of value",
        },
        "expected `,` or `]`" => "after array element",
        "expected `,` or `}`" => "after object key:value pair",
        "expected a member name" => "looking for beginning of object key string",
        "expected `:`" => "after object key",
        "expected a digit" => match before {
            Some(b'.') => "after decimal point in numeric literal",
            Some(b'-') | None if !in_exponent => "in numeric literal",
            _ => "in exponent of numeric literal",
        },
        "control character in a string" => "in string literal",
        "unknown escape" => "in string escape code",
        "expected four hexadecimal digits" => {
            let mut digits = rest.strip_prefix(b"u").unwrap_or(rest).iter();
            found = digits.find(|byte| !byte.is_ascii_hexdigit()).copied();
            "in \\u hexadecimal character escape"
        }
        other if found.is_some() => return other.to_owned(),
        _ => "",
    };
    match found {
        Some(found) => format!("invalid character {} {within}", quote_byte(found)),
        None => "unexpected EOF".to_owned(),
    }
}

/// Whether the error is a `null` after the value. This `null` and everything after it are ignored.
pub(super) fn is_before_null(text: &[u8], error: &SyntaxError) -> bool {
    error.message == "expected nothing after the value"
        && from_error(text, error).starts_with(b"null")
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns the input from the position of the error. Columns count characters, one for each byte
/// that is not UTF-8.
fn from_error<'t>(text: &'t [u8], error: &SyntaxError) -> &'t [u8] {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.by_ref().take(error.line - 1).map(<[u8]>::len).sum();
    let line = lines.next().unwrap_or_default();
    let mut left = error.column - 1;
    let mut at = before;
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars().take(left) {
            at += character.len_utf8();
            left -= 1;
        }
        let invalid = chunk.invalid().len().min(left);
        at += invalid;
        left -= invalid;
    }
    text.get(at..).unwrap_or_default()
}

/// Formats a byte as the quoted character with this code point.
fn quote_byte(byte: u8) -> String {
    let text = match byte {
        b'\'' => "\\'".to_owned(),
        b'\\' => "\\\\".to_owned(),
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        0..=0x1f | 0x7f => format!("\\x{byte:02x}"),
        0x80..=0xa0 | 0xad => format!("\\u{byte:04x}"),
        _ => char::from(byte).to_string(),
    };
    format!("'{text}'")
}

/// Describes the error of a misspelt or incomplete `true`, `false` or `null`.
fn misspelt(text: &[u8]) -> Option<String> {
    let words = ["true", "false", "null"];
    let word = words
        .into_iter()
        .find(|word| word.as_bytes().first() == text.first())?;
    let pairs = word.bytes().zip(text);
    let mismatch = pairs.clone().find(|(expected, found)| expected != *found);
    Some(match mismatch {
        Some((expected, found)) => {
            let (expected, found) = (quote_byte(expected), quote_byte(*found));
            format!("invalid character {found} in literal {word} (expecting {expected})")
        }
        None => "unexpected EOF".to_owned(),
    })
}

/// Describes the error of input after the value: that input is parsed as one more value.
fn after_value(rest: &[u8]) -> String {
    let next = match rest.first() {
        Some(bracket @ (b'{' | b'[')) => char::from(*bracket).to_string(),
        Some(sign @ (b'}' | b']' | b':' | b',')) => {
            let sign = quote_byte(*sign);
            return format!("invalid character {sign} looking for beginning of value");
        }
        _ => match from_json_prefix(lossy(rest).as_bytes()) {
            Ok(Value::String(text)) => text.to_string(),
            Ok(Value::Bool(value)) => format!("%!s(bool={value})"),
            Ok(other) => other.to_string(),
            Err(error) => return explained(rest, &error),
        },
    };
    format!("error: invalid character '{next}' after top-level value")
}
