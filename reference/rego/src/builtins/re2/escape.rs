//! What a backslash begins.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::mistake::{Kind, Mistake};

/// Scripts whose names have four letters. Four letters are otherwise the abbreviation of a script,
/// which RE2 does not know.
const SHORT_SCRIPTS: &[&str] = &[
    "ahom", "cham", "kawi", "lisu", "modi", "newa", "thai", "toto",
];

/// Names that are more than a category or script.
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
    // No character of a text is one.
    ("cs", r"[^\x00-\x{10FFFF}]"),
    ("surrogate", r"[^\x00-\x{10FFFF}]"),
];

/// Reads an escape that means one character, and gives what follows it.
///
/// # Errors
/// When it means none.
pub(super) fn character(text: &str) -> Result<(char, &str), Mistake> {
    let behind = text.strip_prefix('\\').unwrap_or(text);
    let mut characters = behind.chars();
    let Some(kind) = characters.next() else {
        return Err(Kind::TrailingBackslash.at(""));
    };
    let rest = characters.as_str();
    let meant = match kind {
        '0' => return Ok(octal(behind)),
        // One digit alone would refer to a group.
        '1'..='7' if rest.starts_with(|next| matches!(next, '0'..='7')) => {
            return Ok(octal(behind));
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
    Ok((meant, rest))
}

/// The part of a text before its rest.
pub(super) fn part<'t>(text: &'t str, rest: &str) -> &'t str {
    let length = text.len().saturating_sub(rest.len());
    text.get(..length).unwrap_or(text)
}

/// Up to three octal digits.
fn octal(text: &str) -> (char, &str) {
    let is_octal = |byte: &u8| matches!(byte, b'0'..=b'7');
    let length = text.bytes().take(3).take_while(is_octal).count();
    let (digits, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    let number = u32::from_str_radix(digits, 8).ok();
    (number.and_then(char::from_u32).unwrap_or('\0'), rest)
}

/// Two hexadecimal digits, or any number of them in braces.
fn hexadecimal<'t>(text: &'t str, behind: &'t str) -> Result<(char, &'t str), Mistake> {
    let Some(braced) = behind.strip_prefix('{') else {
        let digits = behind.get(..2).filter(|digits| is_hexadecimal(digits));
        let meant = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        return match meant.and_then(char::from_u32) {
            Some(meant) => Ok((meant, behind.get(2..).unwrap_or_default())),
            None => Err(Kind::Escape.at(first(text, 2))),
        };
    };
    let mut number = 0_u32;
    for (at, character) in braced.char_indices() {
        let rest = braced.get(at + character.len_utf8()..).unwrap_or_default();
        match (character, character.to_digit(16)) {
            ('}', _) if at > 0 => {
                // Surrogates are read as what stands for them.
                let meant = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
                return Ok((meant, rest));
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

/// The first characters behind a backslash and a letter.
fn first(text: &str, behind: usize) -> &str {
    let end = text.char_indices().nth(2 + behind);
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// The class of `\d`, `\s`, `\w` and their opposites, which are of ASCII, and of other cases of it.
pub(super) fn perl(letter: char, ignores_case: bool) -> Option<ClassUnicode> {
    let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
        'd' => &[('0', '9')],
        's' => &[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')],
        'w' => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        _ => return None,
    };
    let ranges = ranges.iter();
    let ranges = ranges.map(|(start, end)| ClassUnicodeRange::new(*start, *end));
    let mut class = ClassUnicode::new(ranges);
    if ignores_case {
        class.case_fold_simple();
    }
    if letter.is_ascii_uppercase() {
        class.negate();
    }
    Some(class)
}

/// Reads `\pN`, `\p{Name}` or `\P…` if a text begins with that, and gives what follows it.
///
/// # Errors
/// When there is no such category or script.
pub(super) fn unicode(
    text: &str,
    ignores_case: bool,
) -> Option<Result<(ClassUnicode, &str), Mistake>> {
    let behind = text
        .strip_prefix("\\p")
        .or_else(|| text.strip_prefix("\\P"))?;
    Some(property(text, behind, ignores_case))
}

fn property<'t>(
    text: &'t str,
    behind: &'t str,
    ignores_case: bool,
) -> Result<(ClassUnicode, &'t str), Mistake> {
    let (name, rest) = match behind.strip_prefix('{') {
        Some(braced) => match braced.split_once('}') {
            Some(found) => found,
            None => return Err(Kind::CharacterClass.at(text)),
        },
        None => {
            let length = behind.chars().next().map_or(0, char::len_utf8);
            behind.split_at_checked(length).unwrap_or((behind, ""))
        }
    };
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let found = named(name);
    let mut class = found.ok_or_else(|| Kind::CharacterClass.at(part(text, rest)))?;
    if ignores_case {
        class.case_fold_simple();
    }
    if negated != text.starts_with("\\P") {
        class.negate();
    }
    Ok((class, rest))
}

/// The characters of a category or script.
fn named(name: &str) -> Option<ClassUnicode> {
    let fits = |at: char| at.is_ascii_alphanumeric() || matches!(at, '_' | '-' | ' ');
    if name.is_empty() || !name.chars().all(fits) {
        return None;
    }
    let letters = |at: &char| at.is_ascii_alphanumeric();
    let plain: String = name.chars().filter(letters).collect();
    let plain = plain.to_ascii_lowercase();
    let mut special = SPECIAL.iter();
    if let Some((_, class)) = special.find(|(special, _)| *special == plain) {
        return self::class(class);
    }
    // The library takes more names of categories and scripts than RE2 does.
    if plain.starts_with("is") {
        return None;
    }
    self::class(&format!(r"\p{{gc={plain}}}")).or_else(|| {
        let is_script = plain.len() != 4 || SHORT_SCRIPTS.contains(&plain.as_str());
        match is_script && plain != "unknown" {
            true => self::class(&format!(r"\p{{sc={plain}}}")),
            false => None,
        }
    })
}

/// The class that a text of the library's syntax means.
fn class(text: &str) -> Option<ClassUnicode> {
    use regex_syntax::hir::{Class, HirKind};
    match regex_syntax::parse(text).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A class of one character.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let ranges = text.chars().map(|at| ClassUnicodeRange::new(at, at));
            Some(ClassUnicode::new(ranges))
        }
        // A class of none, or of ASCII.
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        _ => None,
    }
}
