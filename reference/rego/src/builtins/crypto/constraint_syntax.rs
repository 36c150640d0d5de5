//! Syntax of the names in certificates.

/// Whether a text is a domain without a dot at its end; empty is valid. A domain of a constraint may
/// begin with a dot.
pub(super) fn is_domain(text: &str, is_constraint: bool) -> bool {
    let domain = match is_constraint {
        true => text.strip_prefix('.').unwrap_or(text),
        false => text,
    };
    text.is_empty() || has_labels(domain)
}

/// Whether a text is a mailbox: a local part, which may be quoted, and a domain.
pub(super) fn is_mailbox(text: &str) -> bool {
    let domain = match text.strip_prefix('"') {
        Some(quoted) => after_quoted(quoted),
        None => after_atoms(text),
    };
    let domain = domain.and_then(|rest| rest.strip_prefix('@'));
    domain.is_some_and(|domain| domain.is_empty() || has_labels(domain))
}

/// Whether a mask consists of ones followed by zeros.
pub(super) fn is_mask(mask: &[u8]) -> bool {
    let ones: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
    let full = mask.iter().take_while(|byte| **byte == 0xff).count();
    let partial = mask.get(full).map_or(0, |byte| byte.leading_ones());
    ones == u32::try_from(full * 8).unwrap_or(u32::MAX) + partial
}

/// Whether a text consists of labels of visible characters, separated by single dots.
fn has_labels(domain: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_graphic());
    domain.split('.').all(is_label)
}

/// Returns the text after the closing quote; `None` if there is none, or a character that cannot be
/// quoted.
fn after_quoted(quoted: &str) -> Option<&str> {
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return quoted.get(at + 1..),
            '\\' => {
                let (_, escaped) = characters.next()?;
                is_quotable(escaped).then_some(())?;
            }
            '\t' => return None,
            plain => is_quotable(plain).then_some(())?,
        }
    }
    None
}

/// Whether a character may stand in a quoted local part: any ASCII character but NUL and line ends.
fn is_quotable(character: char) -> bool {
    character.is_ascii() && !matches!(character, '\0' | '\n' | '\r')
}

/// Returns the text after a local part of atoms, separated by single dots; in them, a backslash
/// escapes any character.
fn after_atoms(text: &str) -> Option<&str> {
    let (mut local, mut rest) = (String::new(), text);
    loop {
        let is_escaped = rest.starts_with('\\');
        let character = rest.chars().nth(usize::from(is_escaped));
        match character {
            Some(character) if is_escaped || is_atom(character) => local.push(character),
            None if is_escaped => return None,
            _ => break,
        }
        rest = rest.get(1 + usize::from(is_escaped)..)?;
    }
    let is_valid = local.split('.').all(|atom| !atom.is_empty());
    is_valid.then_some(rest)
}

fn is_atom(character: char) -> bool {
    character.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(character)
}
