//! Bracketed character classes.

use regex_syntax::hir::ClassUnicode;

use super::error::{Kind, ParseError};
use super::escape;
use super::named::{self, of_ranges};

/// Parses a bracketed class and returns the rest of the expression.
///
/// # Errors
/// When the class is not closed, or one of its parts is invalid.
pub(super) fn read(text: &str, ignores_case: bool) -> Result<(ClassUnicode, &str), ParseError> {
    let mut rest = text.strip_prefix('[').unwrap_or(text);
    let negated = rest.starts_with('^');
    rest = rest.strip_prefix('^').unwrap_or(rest);
    let mut class = ClassUnicode::empty();
    // A bracket that is the first character is literal.
    let mut is_first = true;
    loop {
        if rest.is_empty() {
            return Err(Kind::OpenClass.at(text));
        }
        if let Some(tail) = rest.strip_prefix(']').filter(|_| !is_first) {
            if negated {
                class.negate();
            }
            return Ok((class, tail));
        }
        is_first = false;
        let (part, tail) = match named_class(rest, ignores_case) {
            Some(read) => read?,
            None => range(text, rest, ignores_case)?,
        };
        class.union(&part);
        rest = tail;
    }
}

/// Parses a nested named class, if the input begins with one.
fn named_class(text: &str, ignores_case: bool) -> Option<Result<(ClassUnicode, &str), ParseError>> {
    if let Some((name, rest)) = text
        .strip_prefix("[:")
        .and_then(|tail| tail.split_once(":]"))
    {
        let class = named::posix(name, ignores_case);
        let class = class.ok_or_else(|| Kind::CharacterClass.at(escape::part(text, rest)));
        return Some(class.map(|class| (class, rest)));
    }
    if let Some(read) = named::unicode(text, ignores_case) {
        return Some(read);
    }
    let mut characters = text.strip_prefix('\\')?.chars();
    let class = named::perl(characters.next()?, ignores_case)?;
    Some(Ok((class, characters.as_str())))
}

/// Parses a character or a range of characters.
fn range<'t>(
    class: &str,
    text: &'t str,
    ignores_case: bool,
) -> Result<(ClassUnicode, &'t str), ParseError> {
    let (start, rest) = character(class, text)?;
    let tail = rest.strip_prefix('-').filter(|tail| !tail.starts_with(']'));
    let (end, rest) = match tail {
        Some(tail) if !tail.is_empty() => character(class, tail)?,
        _ => (start, rest),
    };
    if end < start {
        return Err(Kind::CharacterClass.at(escape::part(text, rest)));
    }
    Ok((of_ranges(&[(start, end)], ignores_case, false), rest))
}

fn character<'t>(class: &str, text: &'t str) -> Result<(char, &'t str), ParseError> {
    if text.starts_with('\\') {
        return escape::character(text);
    }
    let mut characters = text.chars();
    match characters.next() {
        Some(character) => Ok((character, characters.as_str())),
        None => Err(Kind::OpenClass.at(class)),
    }
}
