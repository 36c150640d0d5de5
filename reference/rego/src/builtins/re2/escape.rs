//! Escapes of single characters.

use super::error::{Kind, ParseError};

/// Parses an escape of one character and returns the rest of the expression.
///
/// # Errors
/// When the input does not begin with such an escape.
pub(super) fn character(text: &str) -> Result<(char, &str), ParseError> {
    let escaped = text.strip_prefix('\\').unwrap_or(text);
    let mut characters = escaped.chars();
    let Some(kind) = characters.next() else {
        return Err(Kind::TrailingBackslash.at(""));
    };
    let rest = characters.as_str();
    let value = match kind {
        '0' => return Ok(octal(escaped)),
        // A single digit would be a backreference.
        '1'..='7' if rest.starts_with(|next| matches!(next, '0'..='7')) => {
            return Ok(octal(escaped));
        }
        'x' => return hexadecimal(text, rest),
        'a' => '\u{7}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        plain if plain.is_ascii() && !plain.is_ascii_alphanumeric() => plain,
        _ => return Err(Kind::Escape.at(part(text, rest))),
    };
    Ok((value, rest))
}

/// Returns the part of the input that precedes its rest.
pub(super) fn part<'t>(text: &'t str, rest: &str) -> &'t str {
    let length = text.len().saturating_sub(rest.len());
    text.get(..length).unwrap_or(text)
}

/// Parses up to three octal digits.
fn octal(text: &str) -> (char, &str) {
    let is_octal = |byte: &u8| matches!(byte, b'0'..=b'7');
    let length = text.bytes().take(3).take_while(is_octal).count();
    let (digits, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    let number = u32::from_str_radix(digits, 8).ok();
    (number.and_then(char::from_u32).unwrap_or('\0'), rest)
}

/// Parses two hexadecimal digits, or any number of them in braces.
fn hexadecimal<'t>(text: &'t str, rest_of_escape: &'t str) -> Result<(char, &'t str), ParseError> {
    let Some(braced) = rest_of_escape.strip_prefix('{') else {
        let digits = rest_of_escape
            .get(..2)
            .filter(|digits| is_hexadecimal(digits));
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        return match value.and_then(char::from_u32) {
            Some(value) => Ok((value, rest_of_escape.get(2..).unwrap_or_default())),
            None => Err(Kind::Escape.at(first(text, 2))),
        };
    };
    let mut number = 0_u32;
    for (at, character) in braced.char_indices() {
        let rest = braced.get(at + character.len_utf8()..).unwrap_or_default();
        match (character, character.to_digit(16)) {
            ('}', _) if at > 0 => {
                // Surrogates become the replacement character.
                let value = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
                return Ok((value, rest));
            }
            (_, Some(digit)) => number = number * 16 + digit,
            _ => return Err(Kind::Escape.at(part(text, rest))),
        }
        if number > u32::from(char::MAX) {
            return Err(Kind::Escape.at(part(text, rest)));
        }
    }
    Err(Kind::Escape.at(text))
}

fn is_hexadecimal(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the first characters after a backslash and a letter.
fn first(text: &str, count: usize) -> &str {
    let end = text.char_indices().nth(2 + count);
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}
