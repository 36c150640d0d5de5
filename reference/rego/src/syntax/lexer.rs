//! Lexer. It yields one token at a time, because the meaning of a `}` or a name depends on the
//! state of the parser.

use super::token::{Keywords, Token};

/// Position of the lexer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    /// Byte offset of the next character.
    pub(super) offset: usize,
    /// Line of the next character, from 1.
    row: u32,
    /// Column of that character, from 1; 0 for a line break, which counts to the line it begins.
    col: u32,
}

/// A token and its position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme {
    /// Kind of the token.
    pub(super) token: Token,
    /// Byte offset of the start of the token.
    pub(super) start: usize,
    /// Byte offset of the end of the token.
    pub(super) end: usize,
    /// Line of the start of the token.
    pub(super) row: u32,
    /// Column of the start of the token.
    pub(super) col: u32,
}

/// Lexer state.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    /// Current position; the parser backtracks by setting it.
    pub(super) cursor: Cursor,
    /// Errors in the characters read since the parser last took them.
    pub(super) errors: Vec<&'static str>,
}

impl<'t> Lexer<'t> {
    /// Creates a lexer at the beginning of a source.
    pub(super) fn new(text: &'t str) -> Self {
        let mut lexer = Self {
            text,
            cursor: Cursor {
                offset: 0,
                row: 1,
                col: 0,
            },
            errors: Vec::new(),
        };
        lexer.arrive();
        if lexer.peek() == Some('\u{feff}') {
            lexer.bump();
        }
        lexer
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.cursor.offset..)?.chars().next()
    }

    /// Updates line and column for the character that the cursor has advanced to.
    fn arrive(&mut self) {
        match self.peek() {
            None => {}
            Some('\n') => {
                self.cursor.row += 1;
                self.cursor.col = 0;
            }
            Some(c) => {
                self.cursor.col += 1;
                if c == '\0' {
                    self.errors.push("illegal null character");
                } else if c == '\u{feff}' && self.cursor.offset > 0 {
                    self.errors.push("illegal byte-order mark");
                }
            }
        }
    }

    fn bump(&mut self) {
        if let Some(c) = self.peek() {
            self.cursor.offset += c.len_utf8();
            self.arrive();
        }
    }

    fn bump_if(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.bump();
        }
        found
    }

    fn bump_while(&mut self, predicate: impl Fn(char) -> bool) -> bool {
        let start = self.cursor.offset;
        while self.peek().is_some_and(&predicate) {
            self.bump();
        }
        self.cursor.offset > start
    }

    /// Returns the next token. Each whitespace character is a token.
    pub(super) fn scan(&mut self, keywords: Keywords) -> Lexeme {
        let start = self.cursor;
        let token = match self.peek() {
            None => Token::Eof,
            Some(' ' | '\t' | '\r' | '\n') => {
                self.bump();
                Token::Whitespace
            }
            Some(c) if is_letter(c) => {
                self.bump_while(|c| is_letter(c) || c.is_ascii_digit());
                let name = self.text.get(start.offset..self.cursor.offset);
                keywords.classify(name.unwrap_or_default())
            }
            Some('0'..='9') => {
                self.number();
                Token::Number
            }
            Some(c) => {
                self.bump();
                self.symbol(c)
            }
        };
        self.lexeme(token, start)
    }

    /// Continues a template string after the `}` of an expression.
    pub(super) fn continue_template(&mut self, raw: bool) -> Lexeme {
        let start = self.cursor;
        let token = self.template(raw);
        self.lexeme(token, start)
    }

    fn lexeme(&self, token: Token, start: Cursor) -> Lexeme {
        Lexeme {
            token,
            start: start.offset,
            end: self.cursor.offset,
            row: start.row,
            col: start.col,
        }
    }

    fn symbol(&mut self, c: char) -> Token {
        match c {
            '#' => {
                self.bump_while(|c| c != '\n');
                Token::Comment
            }
            '"' => {
                self.string();
                Token::String
            }
            '`' => {
                self.bump_while(|c| c != '`');
                if !self.bump_if('`') {
                    self.errors.push("non-terminated string");
                }
                Token::String
            }
            '[' => Token::LeftBracket,
            ']' => Token::RightBracket,
            '{' => Token::LeftBrace,
            '}' => Token::RightBrace,
            '(' => Token::LeftParen,
            ')' => Token::RightParen,
            ',' => Token::Comma,
            ';' => Token::Semicolon,
            '.' => Token::Dot,
            '+' => Token::Plus,
            '-' => Token::Minus,
            '*' => Token::Times,
            '/' => Token::Divide,
            '%' => Token::Remainder,
            '&' => Token::And,
            '|' => Token::Or,
            ':' if self.bump_if('=') => Token::Assign,
            ':' => Token::Colon,
            '=' if self.bump_if('=') => Token::Equal,
            '=' => Token::Unify,
            '>' if self.bump_if('=') => Token::GreaterEqual,
            '>' => Token::Greater,
            '<' if self.bump_if('=') => Token::LessEqual,
            '<' => Token::Less,
            '!' if self.bump_if('=') => Token::NotEqual,
            '!' => self.illegal("illegal ! character"),
            '\u{a0}' => {
                self.illegal("illegal non-breaking space character, use a regular space instead")
            }
            '$' if self.bump_if('"') => self.template(false),
            '$' if self.bump_if('`') => self.template(true),
            '$' => self.illegal("illegal $ character"),
            _ => Token::Illegal,
        }
    }

    fn illegal(&mut self, message: &'static str) -> Token {
        self.errors.push(message);
        Token::Illegal
    }

    fn number(&mut self) {
        let digit = |c: char| c.is_ascii_digit();
        self.bump_while(digit);
        if self.bump_if('.') && !self.bump_while(digit) {
            self.errors.push("expected fraction");
        }
        if self.bump_if('e') || self.bump_if('E') {
            if !self.bump_if('+') {
                self.bump_if('-');
            }
            if !self.bump_while(digit) {
                self.errors.push("expected exponent");
            }
        }
        // `0a2b` is one invalid number, not a number and a name.
        if self.peek().is_some_and(is_letter) {
            self.errors.push("illegal number format");
            self.bump_while(|c| is_letter(c) || c.is_ascii_digit());
        }
    }

    fn string(&mut self) {
        loop {
            match self.peek() {
                None | Some('\n') => {
                    self.errors.push("non-terminated string");
                    return;
                }
                Some('"') => return self.bump(),
                Some('\\') => {
                    self.bump();
                    self.escape(false);
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Reads literal text of a template string, up to the end of the string or the next expression.
    fn template(&mut self, raw: bool) -> Token {
        let quote = if raw { '`' } else { '"' };
        loop {
            match self.peek() {
                None => break,
                Some('\n') if !raw => break,
                Some('{') => {
                    self.bump();
                    return if raw {
                        Token::RawTemplatePart
                    } else {
                        Token::TemplatePart
                    };
                }
                Some('\\') => {
                    self.bump();
                    if !raw {
                        self.escape(true);
                    } else {
                        self.bump_if('{');
                    }
                }
                Some(c) => {
                    self.bump();
                    if c == quote {
                        return if raw {
                            Token::RawTemplateEnd
                        } else {
                            Token::TemplateEnd
                        };
                    }
                }
            }
        }
        self.illegal("non-terminated string")
    }

    /// Reads the rest of an escape after the backslash.
    fn escape(&mut self, brace: bool) {
        match self.peek() {
            Some('\\' | '"' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => self.bump(),
            Some('{') if brace => self.bump(),
            Some('u') => (0..4).for_each(|_| self.bump()),
            _ => self.errors.push("illegal escape sequence"),
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
