//! `glob.*`

use std::sync::Arc;

use bstr::ByteSlice;

use super::expected::{CallResult, mistyped_element, mistyped_of};
use super::operand::{answer, any, bytes, characters, not_utf8, refuse, text};
use super::pattern::Pattern;
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("glob.match", Cost::Match, is_match),
    ("glob.quote_meta", Cost::Stepping, |_, operands| {
        let mut quoted = Vec::new();
        for byte in bytes(operands, 1)? {
            if b"*?\\[]{}".contains(byte) {
                quoted.push(b'\\');
            }
            quoted.push(*byte);
        }
        answer(Value::string(&quoted))
    }),
];

/// Maximum nesting depth of alternatives.
const MAX_DEPTH: usize = 100;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["glob.match"],
    subject: "nesting of alternatives",
    most: Maximum::Levels(MAX_DEPTH),
}];

/// Pattern in the syntax of `glob.match`.
#[derive(Debug, Clone)]
pub struct Glob(Arc<Pattern>);

impl Glob {
    /// Compiles a pattern whose single stars match none of the separators.
    ///
    /// # Errors
    /// When the pattern is invalid, with the reason.
    pub fn new(pattern: &str, separators: &str) -> Result<Self, String> {
        let compiled = compile(pattern, separators, None).map_err(|failure| match failure {
            Failure::Type(reason) | Failure::Value(reason) | Failure::Halt(reason) => reason,
            Failure::Aborted(_) => "it was not compiled".to_owned(),
        });
        compiled.map(|pattern| Self(Arc::new(pattern)))
    }

    /// Whether the pattern matches a whole string.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match_at_once(text)
    }
}

fn is_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let pattern = text(operands, 1)?;
    let separators = separators(operands)?;
    let haystack = characters(operands, 3)?;
    if haystack.is_replaced() && pattern.contains(char::REPLACEMENT_CHARACTER) {
        return match_bytes(call, pattern, &separators, haystack.whole());
    }
    let kind = format!("{separators}\0{pattern}");
    let length = kind.len();
    let regex = call.prepared("glob", &kind.into(), |call| {
        call.spend(length)?;
        compile(pattern, &separators, None)
    })?;
    answer(regex.is_match(call, haystack.as_str())?)
}

/// Matches a string that is not UTF-8 against a pattern that contains U+FFFD. An invalid byte is
/// U+FFFD to classes and separators, but never equals a literal character of the pattern: it is
/// replaced by a character that no operand contains.
fn match_bytes(
    call: &mut Call<'_>,
    pattern: &str,
    separators: &str,
    haystack: &[u8],
) -> CallResult {
    let mut candidates = '\u{e000}'..='\u{f8ff}';
    let mut encoded = [0; 4];
    let is_free = |candidate: &char| {
        let text = candidate.encode_utf8(&mut encoded);
        !pattern.contains(&*text)
            && !separators.contains(&*text)
            && haystack.find(text.as_bytes()).is_none()
    };
    let Some(replacement) = candidates.find(is_free) else {
        return Err(not_utf8(3));
    };
    call.spend(pattern.len() + haystack.len())?;
    let mut text = String::with_capacity(haystack.len());
    for chunk in haystack.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| replacement));
    }
    let regex = compile(pattern, separators, Some(replacement))?;
    answer(regex.is_match(call, &text)?)
}

/// Returns the characters that a star does not match: a dot unless others are given, or no
/// characters for `null`.
fn separators(operands: &[Value]) -> Result<String, Failure> {
    let value = any(operands, 2);
    match value {
        Value::Null => Ok(String::new()),
        Value::Array(items) if items.is_empty() => Ok(".".to_owned()),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                let Some(text) = item.as_lossy() else {
                    return Err(mistyped_element(2, value, item, "string"));
                };
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (Some(only), None) => Ok(only),
                    _ => Err(mistyped_element(2, value, item, "rune")),
                }
            })
            .collect(),
        other => mistyped_of(2, &["array", "null"], other),
    }
}

/// Compiles a pattern. `replacement` replaces invalid bytes: classes with U+FFFD contain it, too.
fn compile(pattern: &str, separators: &str, replacement: Option<char>) -> Result<Pattern, Failure> {
    let expression = translated(pattern, separators, replacement)?;
    Pattern::new(&expression).or_else(|_| refuse("glob: the pattern is too large"))
}

fn invalid<T>(at: usize, reason: &str) -> Result<T, Failure> {
    refuse(format!("glob: syntax error at {at}: {reason}"))
}

/// Translates the pattern into a regular expression.
fn translated(
    pattern: &str,
    separators: &str,
    replacement: Option<char>,
) -> Result<String, Failure> {
    let single = match separators {
        "" => ".".to_owned(),
        some => {
            let replaced = some.contains(char::REPLACEMENT_CHARACTER);
            let replacement = replacement.filter(|_| replaced);
            format!("[^{}]", class_text(some.chars().chain(replacement)))
        }
    };
    let mut out = String::from("(?s)\\A(?:");
    let mut rest = pattern;
    let mut depth = 0usize;
    while let Some(character) = rest.chars().next() {
        let at = pattern.len() - rest.len();
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        match character {
            '*' => match rest.strip_prefix('*') {
                Some(_) => {
                    rest = rest.trim_start_matches('*');
                    out.push_str(".*");
                }
                None => out.push_str(&format!("{single}*")),
            },
            '?' => out.push_str(&single),
            '[' => rest = class(pattern, at + 1, replacement, &mut out)?,
            '{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return invalid(at, "alternatives nest too deep");
                }
                out.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                out.push(')');
            }
            ',' if depth > 0 => out.push('|'),
            '\\' => {
                let Some(escaped) = rest.chars().next() else {
                    return invalid(pattern.len(), "trailing backslash");
                };
                rest = rest.get(escaped.len_utf8()..).unwrap_or_default();
                push(escaped, &mut out);
            }
            other => push(other, &mut out),
        }
    }
    if depth > 0 {
        return invalid(pattern.len(), "unclosed `{`");
    }
    out.push_str(")\\z");
    Ok(out)
}

fn push(character: char, out: &mut String) {
    out.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
}

/// Escapes characters for a class.
fn class_text(characters: impl Iterator<Item = char>) -> String {
    characters
        .map(|character| format!("\\x{{{:x}}}", u32::from(character)))
        .collect()
}

/// Translates the class that begins at a byte offset and returns the rest of the pattern. A class
/// is one range, or a list, in which a dash as second character would begin a range.
fn class<'p>(
    pattern: &'p str,
    from: usize,
    replacement: Option<char>,
    out: &mut String,
) -> Result<&'p str, Failure> {
    let text = pattern.get(from..).unwrap_or_default();
    let inner = text.strip_prefix('!').unwrap_or(text);
    let place = |rest: &str| pattern.len() - rest.len();
    let mut characters = inner.chars();
    let first = characters.next();
    let inside = match (first, characters.next()) {
        (None, _) => return invalid(pattern.len(), "unexpected end of input"),
        (Some(low), Some('-')) if low != '\\' => {
            let Some(high) = characters.next() else {
                return invalid(pattern.len(), "unexpected end of input");
            };
            match characters.next() {
                Some(']') => {}
                Some(_) => {
                    let at = place(characters.as_str());
                    return invalid(at, "expected close range character");
                }
                None => return invalid(pattern.len(), "unexpected end of input"),
            }
            if low > high {
                let at = place(characters.as_str());
                return invalid(at, "range hi character is less than lo");
            }
            let replaced = (low..=high).contains(&char::REPLACEMENT_CHARACTER);
            let range = format!(
                "{}-{}",
                class_text([low].into_iter()),
                class_text([high].into_iter())
            );
            match replacement {
                Some(replacement) if replaced => range + &class_text([replacement].into_iter()),
                Some(replacement) => format!("{range}--{}", class_text([replacement].into_iter())),
                None => range,
            }
        }
        (Some(']'), _) => return invalid(place(inner) + 1, "could not parse range"),
        _ => {
            characters = inner.chars();
            let mut members = listed(&mut characters, pattern.len())?;
            if members.contains(&char::REPLACEMENT_CHARACTER) {
                members.extend(replacement);
            }
            class_text(members.into_iter())
        }
    };
    let not = if inner.len() < text.len() { "^" } else { "" };
    out.push_str(&format!("[{not}{inside}]"));
    Ok(characters.as_str())
}

/// Parses the members of a class that is a list, up to its end.
fn listed(characters: &mut std::str::Chars<'_>, end: usize) -> Result<Vec<char>, Failure> {
    let mut members = Vec::new();
    loop {
        match characters.next() {
            Some(']') => return Ok(members),
            Some('\\') => members.extend(characters.next()),
            Some(character) => members.push(character),
            None => return invalid(end, "unexpected end of input"),
        }
    }
}
