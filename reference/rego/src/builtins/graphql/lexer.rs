//! Lexer of GraphQL documents.

use std::fmt;

use super::ast::{Comment, Comments, Position};
use crate::builtins::url::quote;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Invalid,
    End,
    /// Punctuator.
    Mark(&'static str),
    Name,
    Int,
    Float,
    String,
    Block,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "<Invalid>",
            Self::End => "<EOF>",
            Self::Mark(mark) => mark,
            Self::Name => "Name",
            Self::Int => "Int",
            Self::Float => "Float",
            Self::String => "String",
            Self::Block => "BlockString",
        })
    }
}

/// Token with the comments before it.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Source of names and numbers, content of strings, or error message of invalid tokens.
    pub(super) text: String,
    pub(super) position: Position,
    pub(super) comments: Option<Comments>,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.text.as_str()) {
            (Kind::Invalid, _) | (_, "") => self.kind.fmt(f),
            (kind, text) => write!(f, "{kind} {}", quote(text)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

const MARKS: [&str; 14] = [
    "...", "!", "$", "&", "(", ")", ":", "=", "@", "[", "]", "{", "}", "|",
];

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            rest: text,
            line: 1,
            column: 1,
        }
    }

    /// Returns the next token; at the end, always the end token.
    pub(super) fn next(&mut self) -> Token {
        let mut comments = Vec::new();
        loop {
            self.skip_space();
            if !self.rest.starts_with('#') {
                break;
            }
            let end = self.rest.find(|c: char| c < ' ' && c != '\t');
            let value = self.take(end.unwrap_or(self.rest.len())).to_owned();
            comments.push(Comment { value });
        }
        let mut token = self.read();
        token.comments = (!comments.is_empty()).then_some(Comments { list: comments });
        token
    }

    fn skip_space(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '\t' | ' ' | ',' | '\u{feff}' => {
                    self.take(first.len_utf8());
                }
                '\n' | '\r' => {
                    let length = if self.rest.starts_with("\r\n") { 2 } else { 1 };
                    self.rest = self.rest.get(length..).unwrap_or_default();
                    // The second half of a line break counts as a column here.
                    self.column = u32::from(length == 2) + 1;
                    self.line += 1;
                }
                _ => return,
            }
        }
    }

    /// Consumes `length` bytes, which do not contain a line break.
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        let count = u32::try_from(taken.chars().count()).unwrap_or(u32::MAX);
        self.column = self.column.saturating_add(count);
        taken
    }

    fn position(&self) -> Position {
        Position {
            line: self.line,
            column: self.column,
        }
    }

    fn token(position: Position, kind: Kind, text: impl Into<String>) -> Token {
        Token {
            kind,
            text: text.into(),
            position,
            comments: None,
        }
    }

    fn invalid(&self, message: impl Into<String>) -> Token {
        Self::token(self.position(), Kind::Invalid, message)
    }

    fn read(&mut self) -> Token {
        let position = self.position();
        let Some(first) = self.rest.chars().next() else {
            return Self::token(position, Kind::End, "");
        };
        if let Some(mark) = MARKS.iter().find(|mark| self.rest.starts_with(**mark)) {
            self.take(mark.len());
            return Self::token(position, Kind::Mark(mark), "");
        }
        match first {
            '_' | 'a'..='z' | 'A'..='Z' => {
                let end = self
                    .rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let name = self.take(end.unwrap_or(self.rest.len()));
                Self::token(position, Kind::Name, name)
            }
            '-' | '0'..='9' => self.number(position),
            '"' if self.rest.starts_with("\"\"\"") => self.block(position),
            '"' => self.string(position),
            '\0'..='\x1f' => self.invalid(format!(
                "Cannot contain the invalid character \"\\u{:04x}\"",
                u32::from(first)
            )),
            '\'' => self.invalid(
                "Unexpected single quote character ('), did you mean to use a double quote (\")?",
            ),
            // A non-ASCII character is reported as its first byte.
            _ => {
                let byte = self.rest.bytes().next().unwrap_or_default();
                let text = char::from(byte);
                self.invalid(format!("Cannot parse the unexpected character \"{text}\"."))
            }
        }
    }

    fn digits(&mut self) -> usize {
        let end = self.rest.find(|c: char| !c.is_ascii_digit());
        self.take(end.unwrap_or(self.rest.len())).len()
    }

    fn eat(&mut self, one_of: &[char]) -> bool {
        let found = self.rest.starts_with(one_of);
        if found {
            self.take(1);
        }
        found
    }

    fn expected_digit(&self) -> Token {
        let next = match self.rest.bytes().next() {
            Some(byte) => format!("\"{}\"", char::from(byte)),
            None => "<EOF>".to_owned(),
        };
        self.invalid(format!("Invalid number, expected digit but got: {next}."))
    }

    fn number(&mut self, position: Position) -> Token {
        let start = self.rest;
        self.eat(&['-']);
        if self.eat(&['0']) {
            if let Some(digit @ '0'..='9') = self.rest.chars().next() {
                return self.invalid(format!(
                    "Invalid number, unexpected digit after 0: \"{digit}\"."
                ));
            }
        } else if self.digits() == 0 {
            return self.expected_digit();
        }
        let mut kind = Kind::Int;
        if self.eat(&['.']) {
            kind = Kind::Float;
            if self.digits() == 0 {
                return self.expected_digit();
            }
        }
        if self.eat(&['e', 'E']) {
            kind = Kind::Float;
            self.eat(&['-', '+']);
            if self.digits() == 0 {
                return self.expected_digit();
            }
        }
        let length = start.len() - self.rest.len();
        Self::token(position, kind, start.get(..length).unwrap_or_default())
    }

    fn string(&mut self, mut position: Position) -> Token {
        self.take(1);
        // The position of a string is after its quote.
        position.column += 1;
        let mut text = String::new();
        loop {
            let end = self
                .rest
                .find(|c: char| c == '"' || c == '\\' || (c < ' ' && c != '\t'));
            text.push_str(self.take(end.unwrap_or(self.rest.len())));
            match self.rest.chars().next() {
                Some('"') => {
                    self.take(1);
                    return Self::token(position, Kind::String, text);
                }
                Some('\\') => match self.escape() {
                    Ok(character) => text.push(character),
                    Err(error) => {
                        self.take(1);
                        return self.invalid(error);
                    }
                },
                Some('\n' | '\r') | None => return self.invalid("Unterminated string."),
                Some(control) => {
                    return self.invalid(format!(
                        "Invalid character within String: \"\\u{:04x}\".",
                        u32::from(control)
                    ));
                }
            }
        }
    }

    /// Parses the escape at the current position.
    fn escape(&mut self) -> Result<char, String> {
        let rest = self.rest.get(1..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else {
            return Err("Invalid character escape sequence.".to_owned());
        };
        let character = match letter {
            '"' | '/' | '\\' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let digits = rest.get(1..5).filter(|_| rest.len() > 5);
                let Some(digits) = digits else {
                    return Err(format!("Invalid character escape sequence: \\{rest}."));
                };
                let all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| all);
                let Some(code) = code else {
                    return Err(format!("Invalid character escape sequence: \\u{digits}."));
                };
                self.take(6);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => return Err(format!("Invalid character escape sequence: \\{other}.")),
        };
        self.take(2);
        Ok(character)
    }

    fn block(&mut self, mut position: Position) -> Token {
        self.take(3);
        let mut text = String::new();
        loop {
            let Some(first) = self.rest.chars().next() else {
                return self.invalid("Unterminated string.");
            };
            match first {
                '"' if self.rest.starts_with("\"\"\"") => {
                    let quotes = self.rest.len() - self.rest.trim_start_matches('"').len();
                    text.extend(std::iter::repeat_n('"', quotes - 3));
                    // The position of a block string is its end.
                    position = Position {
                        line: self.line,
                        column: match self.line == position.line {
                            true => position.column + 3,
                            false => position.column,
                        },
                    };
                    self.take(quotes);
                    return Self::token(position, Kind::Block, dedent(&text));
                }
                '\\' if self.rest.starts_with("\\\"\"\"") => {
                    self.take(4);
                    text.push_str("\"\"\"");
                }
                '\r' | '\n' => {
                    let length = if self.rest.starts_with("\r\n") { 2 } else { 1 };
                    self.rest = self.rest.get(length..).unwrap_or_default();
                    self.line += 1;
                    self.column = 1;
                    text.push('\n');
                }
                control if control < ' ' && control != '\t' => {
                    return self.invalid(format!(
                        "Invalid character within String: \"\\u{:04x}\".",
                        u32::from(control)
                    ));
                }
                other => {
                    self.take(other.len_utf8());
                    text.push(other);
                }
            }
        }
    }
}

/// Strips the common indent and the surrounding blank lines of a block string.
fn dedent(raw: &str) -> String {
    let lines: Vec<&str> = raw.split('\n').collect();
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let filled = lines.iter().filter(|line| indent(line) < line.len());
    let common = filled.map(|line| indent(line)).min().unwrap_or(0);
    let blank = |line: &&str| line.trim_matches([' ', '\t']).is_empty();
    let mut dedented: Vec<&str> = (0..)
        .zip(&lines)
        .map(|(at, line)| match at {
            0 => *line,
            _ => line.get(common.min(line.len())..).unwrap_or_default(),
        })
        .skip_while(blank)
        .collect();
    while dedented.last().is_some_and(blank) {
        dedented.pop();
    }
    dedented.join("\n")
}
