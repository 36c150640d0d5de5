//! LIKE patterns.

use super::MatchPosition;

/// The character that takes the meaning of the next one away. A backslash would be doubled in
/// strings of some databases.
const ESCAPE: char = '!';

/// A pattern for a text at a place, and the clause behind it, which is empty where nothing is
/// escaped. `special` are the characters with a meaning beside `%` and `_`.
pub(super) fn like(place: MatchPosition, text: &str, special: &[char]) -> (String, &'static str) {
    let is_special = |c: char| matches!(c, '%' | '_' | '\\' | ESCAPE) || special.contains(&c);
    let mut pattern = String::new();
    if place != MatchPosition::Start {
        pattern.push('%');
    }
    let mut escapes = false;
    for c in text.chars() {
        if is_special(c) {
            escapes = true;
            // A backslash has a meaning only where no other escape is given.
            if c != '\\' {
                pattern.push(ESCAPE);
            }
        }
        pattern.push(c);
    }
    if place != MatchPosition::End && !(place == MatchPosition::Anywhere && text.is_empty()) {
        pattern.push('%');
    }
    (pattern, if escapes { " ESCAPE '!'" } else { "" })
}
