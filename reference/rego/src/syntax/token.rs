//! The kinds of tokens, and the names under which error texts speak of them.

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

/// Which names are keywords where the lexer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keywords {
    /// `not`, `in`, `every`, `contains` and `if`; off within the path of an import.
    pub(super) newer: bool,
    /// `and`
    pub(super) and: bool,
    /// `or`
    pub(super) or: bool,
}

impl Keywords {
    /// Those of a text without imports.
    pub(super) const USUAL: Self = Self {
        newer: true,
        and: false,
        or: false,
    };

    /// Those that are keywords within the path of an import.
    pub(super) const IMPORT: Self = Self {
        newer: false,
        and: false,
        or: false,
    };

    /// What a name is: a keyword or an identifier.
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
            "not" if self.newer => Token::Not,
            "in" if self.newer => Token::In,
            "every" if self.newer => Token::Every,
            "contains" if self.newer => Token::Contains,
            "if" if self.newer => Token::If,
            "and" if self.and => Token::LogicalAnd,
            "or" if self.or => Token::LogicalOr,
            _ => Token::Ident,
        }
    }
}

/// Whether a name is a keyword of the language.
pub(crate) fn is_keyword(name: &str) -> bool {
    Keywords::USUAL.classify(name) != Token::Ident
}

impl Token {
    /// The name in error texts; for operators that of the function they call.
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

    /// Whether it is written as a word of the language.
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
