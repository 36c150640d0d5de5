//! Unquotes string and character constants.

/// Unquotes a string constant.
pub(super) fn string(constant: &str) -> Option<Vec<u8>> {
    let quote = constant.chars().next()?;
    let inside = constant.get(1..constant.len().checked_sub(1)?)?;
    if quote == '`' {
        return Some(inside.replace('\r', "").into_bytes());
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while !rest.is_empty() {
        let (value, tail) = character(rest, quote)?;
        match value {
            CharValue::Byte(byte) => out.push(byte),
            CharValue::Code(code) => {
                out.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        rest = tail;
    }
    Some(out)
}

/// Value of one character of a constant.
pub(super) enum CharValue {
    Byte(u8),
    Code(char),
}

/// Parses one character of a quoted constant, and returns the rest.
pub(super) fn character(text: &str, quote: char) -> Option<(CharValue, &str)> {
    let mut characters = text.chars();
    let first = characters.next()?;
    if first == quote {
        return None;
    }
    if first != '\\' {
        return Some((CharValue::Code(first), characters.as_str()));
    }
    let value = match characters.next()? {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' => '\\',
        mark @ ('\'' | '"') if mark == quote => mark,
        'x' => {
            let (code, rest) = digits(characters.as_str(), 2, 16)?;
            return Some((CharValue::Byte(u8::try_from(code).ok()?), rest));
        }
        '0'..='7' => {
            let (code, rest) = digits(text.get(1..)?, 3, 8)?;
            return Some((CharValue::Byte(u8::try_from(code).ok()?), rest));
        }
        mark @ ('u' | 'U') => {
            let count = if mark == 'u' { 4 } else { 8 };
            let (code, rest) = digits(characters.as_str(), count, 16)?;
            return Some((CharValue::Code(char::from_u32(code)?), rest));
        }
        _ => return None,
    };
    Some((CharValue::Code(value), characters.as_str()))
}

/// Parses a number of this many digits.
fn digits(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some((u32::from_str_radix(digits, radix).ok()?, rest))
}
