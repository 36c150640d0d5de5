//! Alternative spellings of strings and numbers, as functions derive them from values: escapes of
//! JSON, YAML, Rego and `sprintf`, percent-encoding, numbers with exponents.

use rego::value::Number;

/// Maximum depth of nested escapes.
const LEVELS: usize = 8;

/// Whether `is_sought` is true for a string with one, two or more levels of escapes undone. A
/// string that still has escapes after the last level counts as found.
pub(super) fn any_level(text: &str, mut is_sought: impl FnMut(&str) -> bool) -> bool {
    let mut next = undone(text);
    for _ in 0..LEVELS {
        match next {
            None => return false,
            Some(text) if is_sought(&text) => return true,
            Some(text) => next = undone(&text),
        }
    }
    next.is_some()
}

/// Unescaped spelling of a string, if it differs.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut decoded = undone(text)?;
    for _ in 1..LEVELS {
        match undone(&decoded) {
            None => break,
            Some(plainer) => decoded = plainer,
        }
    }
    Some(decoded)
}

/// Undoes one level of escapes, if the string has any.
fn undone(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let (mut rest, mut changed) = (text, false);
    while let Some(at) = rest.find(['\\', '%', '+', '\'']) {
        let (before, escape) = rest.split_at(at);
        decoded.extend_from_slice(before.as_bytes());
        let left = backslash(escape, &mut decoded).or_else(|| percent(escape, &mut decoded));
        let left = left.or_else(|| {
            // YAML doubles single quotes in single-quoted strings.
            let left = escape.strip_prefix("''")?;
            decoded.push(b'\'');
            Some(left)
        });
        changed |= left.is_some();
        rest = left.unwrap_or_else(|| {
            let (mark, left) = escape.split_at(1);
            decoded.extend_from_slice(mark.as_bytes());
            left
        });
    }
    decoded.extend_from_slice(rest.as_bytes());
    changed.then(|| String::from_utf8_lossy(&decoded).into_owned())
}

/// Undoes an escape that starts with a backslash, and returns the rest.
fn backslash<'t>(escape: &'t str, decoded: &mut Vec<u8>) -> Option<&'t str> {
    let after = escape.strip_prefix('\\')?;
    let mut rest = after.chars();
    let character = match rest.next()? {
        'a' => '\x07',
        'b' => '\x08',
        'e' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '0' => '\0',
        'L' => '\u{2028}',
        'N' => '\u{85}',
        'P' => '\u{2029}',
        '_' => '\u{a0}',
        'x' => return code(after, 2, decoded),
        'u' => return unit(after, decoded),
        'U' => return code(after, 8, decoded),
        mark if mark == ' ' || mark.is_ascii_punctuation() => mark,
        _ => return None,
    };
    push(decoded, character);
    Some(rest.as_str())
}

/// Undoes an escape of `u` and four digits, or two escapes that form a surrogate pair.
fn unit<'t>(after: &'t str, decoded: &mut Vec<u8>) -> Option<&'t str> {
    let first = hex(after.get(1..5)?)?;
    let rest = after.get(5..)?;
    let second = rest.get(..6).and_then(|next| next.strip_prefix("\\u"));
    let pair = second.and_then(|digits| {
        let units = [first, hex(digits)?].map(u16::try_from);
        let [Ok(high), Ok(low)] = units else {
            return None;
        };
        let mut pair = char::decode_utf16([high, low]);
        // Two separate characters are not a pair.
        pair.next()?.ok().filter(|_| pair.next().is_none())
    });
    if let Some(character) = pair {
        push(decoded, character);
        return rest.get(6..);
    }
    let alone = char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER);
    push(decoded, alone);
    Some(rest)
}

/// Undoes an escape of a letter and `digits` hexadecimal digits, and returns the rest.
fn code<'t>(after: &'t str, digits: usize, decoded: &mut Vec<u8>) -> Option<&'t str> {
    let code = hex(after.get(1..=digits)?)?;
    push(decoded, char::from_u32(code)?);
    after.get(digits + 1..)
}

/// Undoes one percent-escape, or `+` for a space in a query, and returns the rest.
fn percent<'t>(escape: &'t str, decoded: &mut Vec<u8>) -> Option<&'t str> {
    if let Some(rest) = escape.strip_prefix('+') {
        decoded.push(b' ');
        return Some(rest);
    }
    let after = escape.strip_prefix('%')?;
    let byte = hex(after.get(..2)?)?;
    decoded.push(u8::try_from(byte).ok()?);
    after.get(2..)
}

fn hex(digits: &str) -> Option<u32> {
    let all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

fn push(decoded: &mut Vec<u8>, character: char) {
    decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Parses a number without its sign.
pub(super) fn magnitude(text: &str) -> Option<Number> {
    Number::parse(text.strip_prefix('-').unwrap_or(text))
}

/// Numbers that occur in a string, without their signs.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = Number> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.find(|c: char| c.is_ascii_digit())?;
        let (_, from) = rest.split_at(at);
        let (number, left) = from.split_at(number_length(from.as_bytes()));
        rest = left;
        Some(Number::parse(number))
    })
    .flatten()
}

/// Length of the number at the start of a string that begins with a digit, in bytes.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        end += if fraction > 0 { fraction + 1 } else { 0 };
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        end += if exponent > 0 { exponent + sign + 1 } else { 0 };
    }
    end
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{any_level, decoded, numbers};

    #[rstest]
    #[case::plain("plain", None)]
    #[case::lone_percent_sign("100% of it's C:", None)]
    #[case::json(r"Zx9\u003csecret", Some("Zx9<secret"))]
    #[case::surrogates(r"\ud83d\ude00 \ud83d!", Some("\u{1f600} \u{fffd}!"))]
    #[case::several(r"\u0041\u0042", Some("AB"))]
    #[case::other_languages(r"\U0001f600\x41\t\L\{", Some("\u{1f600}A\t\u{2028}{"))]
    #[case::url("p%C3%bc+w%3C", Some("pü w<"))]
    #[case::url_twice(r"%255Cu0041", Some("A"))]
    #[case::quotes("it''s", Some("it's"))]
    #[case::invalid(r"\q\u12 %zz %", None)]
    fn escapes_are_undone(#[case] written: &str, #[case] expected: Option<&str>) {
        assert_eq!(decoded(written).as_deref(), expected);
    }

    #[test]
    fn every_level_is_asked_about() {
        assert!(any_level(r"a\\nb", |text| text == r"a\nb"));
        assert!(any_level(r"a\\nb", |text| text == "a\nb"));
        assert!(!any_level(r"a\\nb", |text| text == "a"));
        assert!(any_level(&"\\".repeat(1 << 12), |_| false));
    }

    #[test]
    fn numbers_are_read_out_of_texts() {
        let found = |text| numbers(text).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(
            found("x1.5e+06,-2.e 3e 4.25é6"),
            ["1.5e+06", "2", "3", "4.25", "6"]
        );
    }
}
