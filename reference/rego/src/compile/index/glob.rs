//! Indexing of rules by the parts of their `glob.match` patterns.

use crate::Value;
use crate::syntax::{Term, TermValue};

/// Returns the characters that separate parts, from the operand that lists them.
pub(super) fn delimiters(term: &Term) -> Option<String> {
    let TermValue::Array(items) = &term.value else {
        return None;
    };
    if items.is_empty() {
        return Some(".".to_owned());
    }
    let texts = items.iter().map(|item| match &item.value {
        TermValue::String(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// Splits a pattern into parts, with `None` for those that match anything; `None` if a part is more
/// than a literal or `*`.
pub(super) fn parts(pattern: &str, delimiters: &str) -> Option<Vec<Option<Value>>> {
    let parts = split(pattern, delimiters).into_iter().map(|part| {
        if part == "*" {
            return Some(None);
        }
        let mut escaped = false;
        for c in part.chars() {
            if c == '\\' {
                escaped = !escaped;
                continue;
            }
            if !escaped && matches!(c, '[' | '?' | '{' | '*') {
                return None;
            }
            escaped = false;
        }
        Some(Some(Value::from(part)))
    });
    parts.collect()
}

/// Whether a string has these parts.
pub(super) fn matches(text: &str, delimiters: &str, parts: &[Option<Value>]) -> bool {
    let found = split(text, delimiters);
    found.len() == parts.len()
        && found.iter().zip(parts).all(|(text, part)| {
            part.as_ref()
                .is_none_or(|part| part.as_str() == Some(*text))
        })
}

/// Splits at delimiters that are not escaped by a backslash.
fn split<'t>(text: &'t str, delimiters: &str) -> Vec<&'t str> {
    let mut escaped = false;
    text.split(|c| {
        if c == '\\' || escaped {
            escaped = !escaped;
            return false;
        }
        delimiters.contains(c)
    })
    .collect()
}
