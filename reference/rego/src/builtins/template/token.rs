//! Lexer of templates.

use std::fmt;

use crate::value::quoted_bytes;

/// Kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Open,
    Close,
    Space,
    Assign,
    Declare,
    Pipe,
    LeftParen,
    RightParen,
    Quoted,
    RawText,
    Character,
    Number,
    Complex,
    Bool,
    Identifier,
    Field,
    Variable,
    Dot,
    Nil,
    Keyword,
    /// Any other character.
    Other,
    End,
    /// Not a token: the template has a syntax error here.
    Invalid,
}

/// A token and its offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) line: usize,
}

impl fmt::Display for Token<'_> {
    /// Formats the token for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_keyword = matches!(self.kind, Kind::Keyword | Kind::Dot | Kind::Nil);
        match self.text.char_indices().nth(SHOWN) {
            _ if self.kind == Kind::End => f.write_str("EOF"),
            _ if is_keyword => write!(f, "<{}>", self.text),
            Some((end, _)) if self.text.len() > SHOWN => {
                let start = self.text.get(..end).unwrap_or_default();
                write!(f, "{}...", quoted_bytes(start.as_bytes()))
            }
            _ => f.write_str(&quoted_bytes(self.text.as_bytes())),
        }
    }
}

/// Maximum number of characters of a token in messages.
const SHOWN: usize = 10;

const KEYWORDS: &[&str] = &[
    "block", "break", "continue", "define", "else", "end", "if", "range", "template", "with",
];

/// Lexer that returns one token at a time.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// Offset up to which lines are counted, and the number of these lines.
    counted: (usize, usize),
    is_inside: bool,
    depth: usize,
    error_message: String,
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            counted: (0, 1),
            is_inside: false,
            depth: 0,
            error_message: String::new(),
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the line of an offset, which must not precede that of the last call.
    fn line(&mut self, at: usize) -> usize {
        let (from, lines) = self.counted;
        let between = self.text.get(from..at).unwrap_or_default();
        let lines = lines + between.matches('\n').count();
        self.counted = (at.max(from), lines);
        lines
    }

    fn token(&mut self, kind: Kind, length: usize) -> Token<'t> {
        let at = self.at;
        let text = self.rest().get(..length).unwrap_or_default();
        let line = self.line(at);
        self.at += length;
        Token {
            kind,
            text,
            at,
            line,
        }
    }

    /// Ends the tokens with a syntax error.
    fn fail(&mut self, message: impl Into<String>) -> Token<'t> {
        let token = self.token(Kind::Invalid, 0);
        self.error_message = message.into();
        self.at = self.text.len();
        self.is_inside = false;
        token
    }

    /// Returns the error of an invalid token.
    pub(super) fn error_message(&self) -> &str {
        &self.error_message
    }

    /// Returns the next token.
    pub(super) fn next(&mut self) -> Token<'t> {
        if self.is_inside {
            return self.inside();
        }
        loop {
            let rest = self.rest();
            let literal = rest.split("{{").next().unwrap_or(rest);
            let tail = rest.get(literal.len()..).unwrap_or_default();
            let trims = trims_before(tail);
            let trimmed = match trims {
                true => literal.trim_end_matches(is_space),
                false => literal,
            };
            if !trimmed.is_empty() {
                let token = self.token(Kind::Text, trimmed.len());
                self.at += literal.len() - trimmed.len();
                return token;
            }
            self.at += literal.len();
            if tail.is_empty() {
                return self.token(Kind::End, 0);
            }
            let marker = if trims { 2 } else { 0 };
            let inside = tail.get(2 + marker..).unwrap_or_default();
            if inside.starts_with("/*") {
                self.at += 2 + marker;
                if let Err(token) = self.comment(inside) {
                    return token;
                }
                continue;
            }
            let token = self.token(Kind::Open, 2);
            self.at += marker;
            self.is_inside = true;
            self.depth = 0;
            return token;
        }
    }

    fn comment(&mut self, text: &str) -> Result<(), Token<'t>> {
        let Some((comment, rest)) = text.get(2..).unwrap_or_default().split_once("*/") else {
            return Err(self.fail("unclosed comment"));
        };
        let Some((length, trims)) = closing(rest) else {
            return Err(self.fail("comment ends before closing delimiter"));
        };
        self.at += comment.len() + 4 + length;
        self.trim(trims);
        Ok(())
    }

    /// Skips the white space after an action.
    fn trim(&mut self, trims: bool) {
        let rest = self.rest();
        if trims {
            self.at += rest.len() - rest.trim_start_matches(is_space).len();
        }
    }

    /// Ends an action.
    fn close(&mut self, length: usize, trims: bool) -> Token<'t> {
        self.at += length - 2;
        let token = self.token(Kind::Close, 2);
        self.is_inside = false;
        self.trim(trims);
        token
    }

    fn inside(&mut self) -> Token<'t> {
        let rest = self.rest();
        if let Some((length, trims)) = closing(rest) {
            if self.depth > 0 {
                return self.fail("unclosed left paren");
            }
            return self.close(length, trims);
        }
        let mut characters = rest.chars();
        let Some(first) = characters.next() else {
            return self.fail("unclosed action");
        };
        let second = characters.next();
        match first {
            _ if is_space(first) => self.space(rest),
            '=' => self.token(Kind::Assign, 1),
            ':' if second == Some('=') => self.token(Kind::Declare, 2),
            ':' => self.fail("expected :="),
            '|' => self.token(Kind::Pipe, 1),
            '"' => self.quoted(rest, '"', Kind::Quoted, "unterminated quoted string"),
            '\'' => {
                let message = "unterminated character constant";
                self.quoted(rest, '\'', Kind::Character, message)
            }
            '`' => match rest.get(1..).and_then(|rest| rest.find('`')) {
                Some(length) => self.token(Kind::RawText, length + 2),
                None => self.fail("unterminated raw quoted string"),
            },
            '$' => self.name(rest, Kind::Variable),
            '.' if second.is_some_and(|next| !next.is_ascii_digit()) => {
                self.name(rest, Kind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => self.number(rest),
            '(' => {
                self.depth += 1;
                self.token(Kind::LeftParen, 1)
            }
            ')' if self.depth == 0 => self.fail("unexpected right paren"),
            ')' => {
                self.depth -= 1;
                self.token(Kind::RightParen, 1)
            }
            _ if is_word(first) => self.word(rest),
            ' '..='~' => self.token(Kind::Other, 1),
            other => {
                let described = code_point(other);
                self.fail(format!("unrecognized character in action: {described}"))
            }
        }
    }

    /// Lexes white space, of which the last character may belong to the end of the action.
    fn space(&mut self, rest: &'t str) -> Token<'t> {
        let length = rest.len() - rest.trim_start_matches(is_space).len();
        let before = rest.get(length - 1..).unwrap_or_default();
        let ends = matches!(closing(before), Some((_, true)));
        self.token(Kind::Space, length - usize::from(ends))
    }

    /// Lexes a quoted string with escapes, on one line.
    fn quoted(&mut self, rest: &'t str, quote: char, kind: Kind, unclosed: &str) -> Token<'t> {
        let mut characters = rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '\n' => break,
                '\\' if matches!(characters.next(), None | Some((_, '\n'))) => break,
                _ if character == quote => return self.token(kind, at + 1),
                _ => {}
            }
        }
        self.fail(unclosed)
    }

    /// Lexes a field or variable after its first character.
    fn name(&mut self, rest: &'t str, kind: Kind) -> Token<'t> {
        let tail = rest.get(1..).unwrap_or_default();
        let length = word_length(tail);
        if length == 0 && kind == Kind::Field && ends_word(tail) {
            return self.token(Kind::Dot, 1);
        }
        self.ended(rest, length + 1, kind)
    }

    fn word(&mut self, rest: &'t str) -> Token<'t> {
        let length = word_length(rest);
        let kind = match rest.get(..length).unwrap_or_default() {
            "true" | "false" => Kind::Bool,
            "nil" => Kind::Nil,
            word if KEYWORDS.contains(&word) => Kind::Keyword,
            _ => Kind::Identifier,
        };
        self.ended(rest, length, kind)
    }

    /// Returns a word of this length, if the next character may follow a word.
    fn ended(&mut self, rest: &str, length: usize, kind: Kind) -> Token<'t> {
        let tail = rest.get(length..).unwrap_or_default();
        match tail.chars().next() {
            Some(next) if !ends_word(tail) => {
                self.fail(format!("bad character {}", code_point(next)))
            }
            _ => self.token(kind, length),
        }
    }

    fn number(&mut self, rest: &str) -> Token<'t> {
        let (length, is_number) = number_length(rest);
        let tail = rest.get(length..).unwrap_or_default();
        let (mut length, mut is_number, mut kind) = (length, is_number, Kind::Number);
        if is_number && tail.starts_with(['+', '-']) {
            let (more, is_more) = number_length(tail);
            length += more;
            let is_imaginary = rest.get(..length).is_some_and(|text| text.ends_with('i'));
            is_number = is_more && is_imaginary;
            kind = Kind::Complex;
        }
        if !is_number {
            let text = rest.get(..length).unwrap_or_default();
            return self.fail(format!("bad number syntax: {text:?}"));
        }
        self.token(kind, length)
    }
}

/// Whether the start of an action trims the white space before it.
fn trims_before(action: &str) -> bool {
    let marker = action.strip_prefix("{{-");
    marker.is_some_and(|rest| rest.starts_with(is_space))
}

/// Returns the length of the action's end, if it is next, and whether it trims white space.
fn closing(text: &str) -> Option<(usize, bool)> {
    if text.starts_with("}}") {
        return Some((2, false));
    }
    let rest = text.strip_prefix(is_space)?;
    rest.starts_with("-}}").then_some((4, true))
}

fn word_length(text: &str) -> usize {
    text.find(|character| !is_word(character))
        .unwrap_or(text.len())
}

/// Whether a word may end before this input.
fn ends_word(rest: &str) -> bool {
    match rest.chars().next() {
        None => true,
        Some(next) => {
            is_space(next)
                || matches!(next, '.' | ',' | '|' | ':' | ')' | '(')
                || rest.starts_with("}}")
        }
    }
}

/// Returns the length of a number, and whether it may end there.
fn number_length(text: &str) -> (usize, bool) {
    const DECIMAL: &str = "0123456789_";
    const HEXADECIMAL: &str = "0123456789abcdefABCDEF_";
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut digits = DECIMAL;
    if let Some(tail) = rest.strip_prefix('0') {
        rest = tail;
        for (marks, others) in [
            (['x', 'X'], HEXADECIMAL),
            (['o', 'O'], "01234567_"),
            (['b', 'B'], "01_"),
        ] {
            if let Some(tail) = rest.strip_prefix(marks) {
                (rest, digits) = (tail, others);
                break;
            }
        }
    }
    let run = |rest: &mut &str, digits: &str| {
        *rest = rest.trim_start_matches(|character| digits.contains(character));
    };
    run(&mut rest, digits);
    if let Some(tail) = rest.strip_prefix('.') {
        rest = tail;
        run(&mut rest, digits);
    }
    for (of, marks) in [(DECIMAL, ['e', 'E']), (HEXADECIMAL, ['p', 'P'])] {
        if let Some(tail) = rest.strip_prefix(marks).filter(|_| digits == of) {
            rest = tail.strip_prefix(['+', '-']).unwrap_or(tail);
            run(&mut rest, DECIMAL);
        }
    }
    rest = rest.strip_prefix('i').unwrap_or(rest);
    let length = text.len() - rest.len();
    match rest.chars().next() {
        Some(next) if is_word(next) => (length + next.len_utf8(), false),
        _ => (length, true),
    }
}

/// Formats a character for messages.
fn code_point(character: char) -> String {
    let code = u32::from(character);
    match character.is_control() || character.is_whitespace() && character != ' ' {
        true => format!("U+{code:04X}"),
        false => format!("U+{code:04X} '{character}'"),
    }
}
