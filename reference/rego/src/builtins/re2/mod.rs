//! The syntax of RE2, as Go reads it: from the text of a regular expression to what the library
//! compiles.
//!
//! <https://github.com/google/re2/wiki/Syntax> is the grammar. A repetition counts to 1,000, also
//! with those within it, groups nest 1,000 deep, and `\C` is refused.

mod class;
mod error;
mod escape;
mod flags;
mod named;
mod parser;

use super::{BuiltinLimit, Most};
use regex_syntax::hir::Hir;

pub(super) use error::Mistake;

pub(super) const LIMITS: &[BuiltinLimit] = &[
    BuiltinLimit {
        functions: &["regex."],
        subject: "count of a repetition, also with those within it",
        most: Most::Count(parser::MAX_COUNT as usize),
    },
    BuiltinLimit {
        functions: &["regex."],
        subject: "nesting of groups",
        most: Most::Levels(parser::MAX_DEPTH),
    },
];

/// A regular expression.
#[derive(Debug)]
pub(super) struct Parsed {
    /// Its meaning. Groups have numbers, and no names: several may have the same one.
    pub(super) meaning: Hir,
    /// The names of the groups. The whole expression is the first.
    pub(super) names: Vec<Option<String>>,
}

/// Reads a regular expression.
///
/// # Errors
/// The first mistake.
pub(super) fn parse(expression: &str) -> Result<Parsed, Mistake> {
    parser::Parser::new(expression).parse()
}

#[cfg(test)]
mod tests;
