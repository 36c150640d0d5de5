//! Quoted names of tables and columns.

use std::sync::LazyLock;

use crate::hash::HashSet;

/// Quotes a name, with the quotes inside doubled.
pub(super) fn doubled(name: &str, quote: char) -> String {
    let inner = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{inner}{quote}")
}

/// Whether every database accepts a name without quotes.
pub(super) fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(name.to_ascii_lowercase().as_str())
}

/// Words that some of the databases reserve.
static RESERVED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("reserved.txt")
        .split_ascii_whitespace()
        .collect()
});
