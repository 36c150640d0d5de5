//! LIKE patterns.

use super::MatchPosition;

/// Escape character. A backslash would be doubled in strings of some databases.
const ESCAPE: char = '!';

/// Returns the LIKE pattern for a string at a position, and the `ESCAPE` clause that follows it,
/// which is empty if nothing is escaped. `special` are additional characters to be escaped.
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
            // A backslash has a meaning only if no other escape is specified.
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
