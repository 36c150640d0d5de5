//! Syntax errors in regular expressions.

use std::fmt;

/// Syntax error, and the part of the expression that contains it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {kind}: `{part}`")]
pub(in crate::builtins) struct ParseError {
    kind: Kind,
    part: String,
}

/// Kinds of syntax errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    CharacterClass,
    Escape,
    GroupName,
    Flags,
    NestedRepetition,
    RepeatCount,
    OpenClass,
    OpenGroup,
    NothingToRepeat,
    TrailingBackslash,
    ClosingGroup,
    TooDeep,
    TooLarge,
}

impl Kind {
    /// Creates an error of this kind in a part of an expression.
    pub(super) fn at(self, part: &str) -> ParseError {
        ParseError {
            kind: self,
            part: part.to_owned(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CharacterClass => "invalid character class range",
            Self::Escape => "invalid escape sequence",
            Self::GroupName => "invalid named capture",
            Self::Flags => "invalid or unsupported Perl syntax",
            Self::NestedRepetition => "invalid nested repetition operator",
            Self::RepeatCount => "invalid repeat count",
            Self::OpenClass => "missing closing ]",
            Self::OpenGroup => "missing closing )",
            Self::NothingToRepeat => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::ClosingGroup => "unexpected )",
            Self::TooDeep => "expression nests too deeply",
            Self::TooLarge => "expression too large",
        })
    }
}
