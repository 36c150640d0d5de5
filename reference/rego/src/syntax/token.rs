//! Tokens, and their names in error messages.

use super::Version;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Illegal,
    Eof,
    Whitespace,
    Comment,
    Ident,
    Package,
    Import,
    As,
    Default,
    Else,
    Not,
    Some,
    With,
    Null,
    True,
    False,
    In,
    Every,
    Contains,
    If,
    LogicalAnd,
    LogicalOr,
    Number,
    String,
    TemplatePart,
    TemplateEnd,
    RawTemplatePart,
    RawTemplateEnd,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Comma,
    Colon,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    And,
    Or,
    Unify,
    Equal,
    Assign,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Dot,
    Semicolon,
}

/// Set of those keywords that are not keywords in every source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keywords(u8);

impl Keywords {
    /// `not`
    pub(super) const NOT: Self = Self(1);
    /// `in`
    pub(super) const IN: Self = Self(1 << 1);
    /// `every`
    pub(super) const EVERY: Self = Self(1 << 2);
    /// `contains`
    pub(super) const CONTAINS: Self = Self(1 << 3);
    /// `if`
    pub(super) const IF: Self = Self(1 << 4);
    /// `and`
    pub(super) const AND: Self = Self(1 << 5);
    /// `or`
    pub(super) const OR: Self = Self(1 << 6);

    /// Keywords of this set within the path of an import.
    pub(super) const IMPORT: Self = Self(0);

    /// Keywords of this set in a Rego v1 source without imports.
    pub(super) const V1: Self = Self::NOT
        .with(Self::IN)
        .with(Self::EVERY)
        .with(Self::CONTAINS)
        .with(Self::IF);

    /// All keywords that imports can enable.
    pub(super) const ALL: Self = Self::V1.with(Self::AND).with(Self::OR);

    /// Returns the keywords of this set in a source of a version without imports.
    pub(super) const fn of(version: Version) -> Self {
        match version {
            Version::V0 => Self::NOT,
            Version::V1 => Self::V1,
        }
    }

    /// Returns the keyword of this name, if an import can enable it.
    pub(super) fn importable(name: &str) -> Option<Self> {
        Some(match name {
            "and" => Self::AND,
            "contains" => Self::CONTAINS,
            // `every` requires `in`.
            "every" => Self::EVERY.with(Self::IN),
            "if" => Self::IF,
            "in" => Self::IN,
            "not" => Self::NOT,
            "or" => Self::OR,
            _ => return None,
        })
    }

    /// Returns the union of two sets.
    pub(super) const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether the sets intersect.
    pub(super) const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Classifies a name as a keyword or an identifier.
    pub(super) fn classify(self, name: &str) -> Token {
        match name {
            "package" => Token::Package,
            "import" => Token::Import,
            "as" => Token::As,
            "default" => Token::Default,
            "else" => Token::Else,
            "some" => Token::Some,
            "with" => Token::With,
            "null" => Token::Null,
            "true" => Token::True,
            "false" => Token::False,
            "not" if self.has(Self::NOT) => Token::Not,
            "in" if self.has(Self::IN) => Token::In,
            "every" if self.has(Self::EVERY) => Token::Every,
            "contains" if self.has(Self::CONTAINS) => Token::Contains,
            "if" if self.has(Self::IF) => Token::If,
            "and" if self.has(Self::AND) => Token::LogicalAnd,
            "or" if self.has(Self::OR) => Token::LogicalOr,
            _ => Token::Ident,
        }
    }
}

/// Whether a name is a keyword of a version of the language.
pub(crate) fn is_keyword(name: &str, version: Version) -> bool {
    Keywords::of(version).classify(name) != Token::Ident
}

impl Token {
    /// Returns the name of the token in error messages; for an operator that of its function.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Illegal => "illegal",
            Self::Eof => "eof",
            Self::Whitespace => "whitespace",
            Self::Comment => "comment",
            Self::Ident => "identifier",
            Self::Package => "package",
            Self::Import => "import",
            Self::As => "as",
            Self::Default => "default",
            Self::Else => "else",
            Self::Not => "not",
            Self::Some => "some",
            Self::With => "with",
            Self::Null => "null",
            Self::True => "true",
            Self::False => "false",
            Self::In => "in",
            Self::Every => "every",
            Self::Contains => "contains",
            Self::If => "if",
            Self::LogicalAnd | Self::And => "and",
            Self::LogicalOr | Self::Or => "or",
            Self::Number => "number",
            Self::String => "string",
            Self::TemplatePart => "template-string-part",
            Self::TemplateEnd => "template-string-end",
            Self::RawTemplatePart => "raw-template-string-part",
            Self::RawTemplateEnd => "raw-template-string-end",
            Self::LeftBracket => "[",
            Self::RightBracket => "]",
            Self::LeftBrace => "{",
            Self::RightBrace => "}",
            Self::LeftParen => "(",
            Self::RightParen => ")",
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::Times => "mul",
            Self::Divide => "div",
            Self::Remainder => "rem",
            Self::Unify => "eq",
            Self::Equal => "equal",
            Self::Assign => "assign",
            Self::NotEqual => "neq",
            Self::Greater => "gt",
            Self::Less => "lt",
            Self::GreaterEqual => "gte",
            Self::LessEqual => "lte",
            Self::Dot => ".",
            Self::Semicolon => ";",
        }
    }

    /// Whether the token is written as a word of the language.
    pub(super) fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Package
                | Self::Import
                | Self::As
                | Self::Default
                | Self::Else
                | Self::Not
                | Self::Some
                | Self::With
                | Self::Null
                | Self::True
                | Self::False
                | Self::In
                | Self::Every
                | Self::Contains
                | Self::If
                | Self::LogicalAnd
                | Self::LogicalOr
        )
    }
}
