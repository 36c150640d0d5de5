//! Named classes: of Perl, of POSIX, and the categories and scripts of Unicode.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::error::{Kind, ParseError};
use super::escape;

/// Scripts with names of four letters. Other names of four letters are abbreviations of scripts,
/// which RE2 does not support.
const SHORT_SCRIPTS: &[&str] = &[
    "ahom", "cham", "kawi", "lisu", "modi", "newa", "thai", "toto",
];

/// Names other than categories and scripts.
const SPECIAL: &[(&str, &str)] = &[
    ("any", r"\p{Any}"),
    ("ascii", r"\p{ASCII}"),
    ("assigned", r"\p{Assigned}"),
    ("lc", r"[\p{Lu}\p{Ll}\p{Lt}]"),
    ("casedletter", r"[\p{Lu}\p{Ll}\p{Lt}]"),
    ("digit", r"\p{Nd}"),
    ("punct", r"\p{P}"),
    ("combiningmark", r"\p{M}"),
    ("cntrl", r"\p{Cc}"),
    // No character of a string is a surrogate.
    ("cs", r"[^\x00-\x{10FFFF}]"),
    ("surrogate", r"[^\x00-\x{10FFFF}]"),
];

/// Returns the ASCII class of `\d`, `\s`, `\w` or their negations, optionally in either case.
pub(super) fn perl(letter: char, ignores_case: bool) -> Option<ClassUnicode> {
    let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
        'd' => &[('0', '9')],
        's' => &[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')],
        'w' => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        _ => return None,
    };
    Some(of_ranges(ranges, ignores_case, letter.is_ascii_uppercase()))
}

/// Parses `\pN`, `\p{Name}` or `\P…` if the input begins with it, and returns the rest.
///
/// # Errors
/// When there is no such category or script.
pub(super) fn unicode(
    text: &str,
    ignores_case: bool,
) -> Option<Result<(ClassUnicode, &str), ParseError>> {
    let rest = text
        .strip_prefix("\\p")
        .or_else(|| text.strip_prefix("\\P"))?;
    Some(property(text, rest, ignores_case))
}

fn property<'t>(
    text: &'t str,
    tail: &'t str,
    ignores_case: bool,
) -> Result<(ClassUnicode, &'t str), ParseError> {
    let (name, rest) = match tail.strip_prefix('{') {
        Some(braced) => match braced.split_once('}') {
            Some(found) => found,
            None => return Err(Kind::CharacterClass.at(text)),
        },
        None => {
            let length = tail.chars().next().map_or(0, char::len_utf8);
            tail.split_at_checked(length).unwrap_or((tail, ""))
        }
    };
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let found = named(name);
    let mut class = found.ok_or_else(|| Kind::CharacterClass.at(escape::part(text, rest)))?;
    if ignores_case {
        class.case_fold_simple();
    }
    if negated != text.starts_with("\\P") {
        class.negate();
    }
    Ok((class, rest))
}

/// Returns the characters of a category or script.
fn named(name: &str) -> Option<ClassUnicode> {
    let is_allowed = |at: char| at.is_ascii_alphanumeric() || matches!(at, '_' | '-' | ' ');
    if name.is_empty() || !name.chars().all(is_allowed) {
        return None;
    }
    let letters = |at: &char| at.is_ascii_alphanumeric();
    let normalized: String = name.chars().filter(letters).collect();
    let normalized = normalized.to_ascii_lowercase();
    let mut special = SPECIAL.iter();
    if let Some((_, class)) = special.find(|(special, _)| *special == normalized) {
        return self::class(class);
    }
    // The library accepts more names of categories and scripts than RE2.
    if normalized.starts_with("is") {
        return None;
    }
    self::class(&format!(r"\p{{gc={normalized}}}")).or_else(|| {
        let is_script = normalized.len() != 4 || SHORT_SCRIPTS.contains(&normalized.as_str());
        match is_script && normalized != "unknown" {
            true => self::class(&format!(r"\p{{sc={normalized}}}")),
            false => None,
        }
    })
}

/// Parses a class in the library's syntax.
fn class(text: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(text).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A class of one character.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let ranges = text.chars().map(|at| ClassUnicodeRange::new(at, at));
            Some(ClassUnicode::new(ranges))
        }
        // An empty class, or one of ASCII.
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        _ => None,
    }
}

/// Returns the class of these ranges, first extended to either case and then negated, if set.
pub(super) fn of_ranges(
    ranges: &[(char, char)],
    ignores_case: bool,
    negated: bool,
) -> ClassUnicode {
    let ranges = ranges.iter();
    let ranges = ranges.map(|(start, end)| ClassUnicodeRange::new(*start, *end));
    let mut class = ClassUnicode::new(ranges);
    if ignores_case {
        class.case_fold_simple();
    }
    if negated {
        class.negate();
    }
    class
}

/// Returns a POSIX class by its name, which a caret negates.
pub(super) fn posix(name: &str, ignores_case: bool) -> Option<ClassUnicode> {
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\u{7f}')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(of_ranges(ranges, ignores_case, negated))
}
