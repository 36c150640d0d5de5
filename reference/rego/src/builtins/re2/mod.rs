//! RE2 syntax as in Go: translates regular expressions for the library to compile.
//!
//! <https://github.com/google/re2/wiki/Syntax> is the grammar. Counted repetitions are at most
//! 1,000, as is their product when nested, groups nest at most 1,000 deep, and `\C` is refused.

mod class;
mod error;
mod escape;
mod flags;
mod named;
mod parser;

use super::{BuiltinLimit, Maximum};
use regex_syntax::hir::Hir;

pub(super) use error::ParseError;

pub(super) const LIMITS: &[BuiltinLimit] = &[
    BuiltinLimit {
        functions: &["regex."],
        subject: "count of a repetition, also with those within it",
        most: Maximum::Count(parser::MAX_COUNT as usize),
    },
    BuiltinLimit {
        functions: &["regex."],
        subject: "nesting of groups",
        most: Maximum::Levels(parser::MAX_DEPTH),
    },
];

/// Parsed regular expression.
#[derive(Debug)]
pub(super) struct Parsed {
    /// Translated expression. Groups have numbers, but no names, as names may repeat.
    pub(super) meaning: Hir,
    /// Names of the groups. The first is that of the whole expression.
    pub(super) names: Vec<Option<String>>,
}

/// Parses a regular expression.
///
/// # Errors
/// Returns the first syntax error.
pub(super) fn parse(expression: &str) -> Result<Parsed, ParseError> {
    parser::Parser::new(expression).parse()
}

#[cfg(test)]
mod tests;
