//! Flags, which apply from their position to the end of their group.

use super::error::{Kind, ParseError};

/// Flags of a regular expression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// `i`: case-insensitive.
    pub(super) ignores_case: bool,
    /// `m`: `^` and `$` match at each line.
    pub(super) is_multiline: bool,
    /// `s`: `.` matches a newline.
    pub(super) dot_matches_newline: bool,
    /// `U`: repetitions are lazy unless a `?` follows.
    pub(super) is_lazy: bool,
}

/// Start of a group.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start<'t> {
    /// `(`: a capturing group.
    Capture,
    /// `(?P<name>` or `(?<name>`
    Named(&'t str),
    /// `(?flags:`
    Flagged(Flags),
    /// `(?flags)`: not a group; the flags apply from here.
    Set(Flags),
}

/// Parses the start of a group from its parenthesis on, and returns the rest of the input.
///
/// # Errors
/// When the name or the flags of the group are invalid.
pub(super) fn start(text: &str, flags: Flags) -> Result<(Start<'_>, &str), ParseError> {
    let Some(rest) = text.strip_prefix("(?") else {
        return Ok((Start::Capture, text.get(1..).unwrap_or_default()));
    };
    let named = rest.strip_prefix("P<").or(rest.strip_prefix('<'));
    // At least three characters follow.
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return name(text, named);
    }
    set(text, rest, flags)
}

fn name<'t>(text: &'t str, named: &'t str) -> Result<(Start<'t>, &'t str), ParseError> {
    let Some((name, rest)) = named.split_once('>') else {
        return Err(Kind::GroupName.at(text));
    };
    let is_name_byte = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    if name.is_empty() || !name.bytes().all(is_name_byte) {
        let length = text.len() - rest.len();
        return Err(Kind::GroupName.at(text.get(..length).unwrap_or(text)));
    }
    Ok((Start::Named(name), rest))
}

/// Parses flags, of which those after a minus are cleared.
fn set<'t>(text: &'t str, tail: &'t str, flags: Flags) -> Result<(Start<'t>, &'t str), ParseError> {
    let mut set = flags;
    // Whether flags are being cleared, and whether a flag followed the minus.
    let (mut clears, mut has_cleared) = (false, false);
    for (at, character) in tail.char_indices() {
        let end = at + character.len_utf8();
        let flag = match character {
            'i' => &mut set.ignores_case,
            'm' => &mut set.is_multiline,
            's' => &mut set.dot_matches_newline,
            'U' => &mut set.is_lazy,
            '-' if !clears => {
                clears = true;
                continue;
            }
            ':' | ')' if !clears || has_cleared => {
                let rest = tail.get(end..).unwrap_or_default();
                let start = match character {
                    ':' => Start::Flagged(set),
                    _ => Start::Set(set),
                };
                return Ok((start, rest));
            }
            _ => {
                let part = text.get(..2 + end).unwrap_or(text);
                return Err(Kind::Flags.at(part));
            }
        };
        *flag = !clears;
        has_cleared |= clears;
    }
    Err(Kind::Flags.at(text))
}
