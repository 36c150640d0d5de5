//! Recursive descent parser with backtracking.
//!
//! If a source is ambiguous, the parser tries one alternative and backtracks if it fails. Failures
//! are cached, so that backtracking does not multiply within nested sources.

mod bare;
mod collections;
mod expressions;
mod ground;
mod heads;
mod literals;
mod logic;
mod module;
mod operators;
mod relocate;
mod rules;
mod statements;
mod terms;

use std::sync::Arc;

use super::lexer::{Cursor, Lexeme, Lexer};
use super::token::{Keywords, Token};
use super::{Comment, FileId, Location, Ref, Term, TermValue, Var, Version};
use crate::Value;
use crate::error::{Code, LanguageError};
use crate::hash::{HashMap, HashSet};

pub use module::{parse_module, parse_module_as, parse_query, parse_query_as};

/// Maximum nesting depth of terms, bodies and `else` branches. Chained operators count like the
/// equivalent nested calls.
///
/// INVARIANT: the tree is compared, rewritten and dropped by recursion, so its depth is limited.
pub const MAX_NESTING: usize = 512;

/// Maximum number of errors that contain their source line, which may be as long as the source.
const MAX_DETAILED: usize = 100;

/// State at the start of an expression or rule, for backtracking.
#[derive(Debug, Clone)]
struct Saved {
    state: State,
    errors: usize,
    comments: usize,
    hints: Vec<String>,
}

/// State that changes with every token.
#[derive(Debug, Clone, Copy)]
struct State {
    cursor: Cursor,
    lexeme: Lexeme,
    /// Byte offset of the end of the preceding token that is not whitespace.
    last_end: usize,
    /// Whether a line break precedes the current token.
    after_line_break: bool,
    /// Number of the next wildcard.
    wildcard: u32,
}

/// Parser state.
#[derive(Debug)]
struct Parser<'t> {
    text: &'t str,
    file: FileId,
    lexer: Lexer<'t>,
    version: Version,
    keywords: Keywords,
    /// Whether `not` can negate a body, so that it is parsed to a separate node.
    negates_bodies: bool,
    state: State,
    hints: Vec<String>,
    errors: Vec<LanguageError>,
    comments: Vec<Comment>,
    /// Byte offsets of brackets that turned out not to contain comprehensions.
    plain: HashSet<usize>,
    /// Number of open terms, bodies and branches.
    depth: usize,
    /// Maximum height of the nodes parsed within the innermost open one.
    height: usize,
    /// Whether the source is nested too deep, so that no alternatives are tried.
    exhausted: bool,
    /// Number of bytes parsed again, after brackets turned out not to contain an operand.
    read_again: usize,
    /// Whether the current parse is only for a hint.
    hinting: bool,
    /// Number of bytes parsed for hints.
    hinted: usize,
    names: HashMap<&'t str, Arc<str>>,
}

impl<'t> Parser<'t> {
    fn new(file: &FileId, text: &'t str, version: Version) -> Self {
        let mut lexer = Lexer::new(text);
        let start = lexer.cursor;
        let lexeme = Lexeme {
            token: Token::Illegal,
            start: 0,
            end: 0,
            row: 1,
            col: 0,
        };
        lexer.cursor = start;
        let mut parser = Self {
            text,
            file: file.clone(),
            lexer,
            version,
            keywords: Keywords::of(version),
            negates_bodies: false,
            state: State {
                cursor: start,
                lexeme,
                last_end: 0,
                after_line_break: false,
                wildcard: 0,
            },
            hints: Vec::new(),
            errors: Vec::new(),
            comments: Vec::new(),
            plain: HashSet::default(),
            depth: 0,
            height: 0,
            exhausted: false,
            read_again: 0,
            hinting: false,
            hinted: 0,
            names: HashMap::default(),
        };
        parser.scan();
        parser
    }

    fn token(&self) -> Token {
        self.state.lexeme.token
    }

    fn set_token(&mut self, token: Token) {
        self.state.lexeme.token = token;
    }

    /// Returns the byte offset of the current token.
    fn offset(&self) -> usize {
        self.state.lexeme.start
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the source text of the current token.
    fn lexeme(&self) -> &'t str {
        self.slice(self.state.lexeme.start, self.state.lexeme.end)
    }

    /// Returns the location of the current token.
    fn here(&self) -> Location {
        let Lexeme {
            start,
            end,
            row,
            col,
            ..
        } = self.state.lexeme;
        Location {
            file: self.file.clone(),
            row,
            col,
            offset: narrow(start),
            length: narrow(end.saturating_sub(start)),
        }
    }

    /// Returns a location from a byte offset to the end of the preceding token.
    fn until_last(&self, location: &Location, start: usize) -> Location {
        self.spanning(location, start, self.state.last_end)
    }

    /// Returns a location between byte offsets, with the line and column of another location.
    fn spanning(&self, location: &Location, start: usize, end: usize) -> Location {
        Location {
            offset: narrow(start),
            length: narrow(end.saturating_sub(start)),
            ..location.clone()
        }
    }

    fn save(&self) -> Saved {
        Saved {
            state: self.state,
            errors: self.errors.len(),
            comments: self.comments.len(),
            hints: self.hints.clone(),
        }
    }

    fn restore(&mut self, saved: Saved) {
        self.state = saved.state;
        self.lexer.cursor = saved.state.cursor;
        self.errors.truncate(saved.errors);
        self.comments.truncate(saved.comments);
        self.hints = saved.hints;
    }

    /// Advances to the next token that is not whitespace.
    fn scan(&mut self) {
        self.advance(true);
    }

    /// Advances to the next token, which may be whitespace.
    fn scan_whitespace(&mut self) {
        self.advance(false);
    }

    fn advance(&mut self, skip_whitespace: bool) {
        self.leave_token();
        loop {
            let lexeme = self.lexer.scan(self.keywords);
            self.take(lexeme);
            match self.token() {
                Token::Whitespace => {
                    if self.lexeme() == "\n" {
                        self.state.after_line_break = true;
                    }
                    if !skip_whitespace {
                        return;
                    }
                }
                Token::Comment => self.comment(),
                _ => return,
            }
        }
    }

    /// Continues a template string from the `}` of an expression.
    fn scan_template(&mut self, raw: bool) {
        self.leave_token();
        let lexeme = self.lexer.continue_template(raw);
        self.take(lexeme);
    }

    fn leave_token(&mut self) {
        if self.token() != Token::Whitespace {
            self.state.last_end = self.state.lexeme.end;
            self.state.after_line_break = false;
        }
    }

    fn take(&mut self, lexeme: Lexeme) {
        self.state.lexeme = lexeme;
        self.state.cursor = self.lexer.cursor;
        if !self.lexer.errors.is_empty() {
            let here = self.here();
            for message in std::mem::take(&mut self.lexer.errors) {
                self.error(&here, message);
            }
            self.set_token(Token::Illegal);
        }
    }

    fn comment(&mut self) {
        let text = self.lexeme().strip_prefix('#').unwrap_or_default();
        let comment = Comment {
            text: text.trim_end_matches('\r').into(),
            location: self.here(),
        };
        self.comments.push(comment);
    }

    /// Returns the token after the current one, which may be whitespace.
    fn next_token(&mut self) -> Token {
        let saved = self.save();
        self.scan_whitespace();
        let token = self.token();
        self.restore(saved);
        token
    }

    fn hint(&mut self, hint: impl Into<String>) {
        self.hints.push(hint.into());
    }

    /// Reports an error at a location, with the hints collected so far.
    fn error(&mut self, location: &Location, message: impl Into<String>) {
        let mut message = message.into();
        match std::mem::take(&mut self.hints).as_slice() {
            [] => {}
            [hint] => message.push_str(&format!(" (hint: {hint})")),
            hints => message.push_str(&format!(" (hints: {})", hints.join(", "))),
        }
        self.errors.push(LanguageError {
            code: Code::Parse,
            message,
            location: Some(location.clone()),
            details: None,
        });
    }

    /// Reports an error once at a location that may be parsed several times.
    fn error_once(&mut self, location: &Location, message: impl Into<String>) {
        self.error(location, message);
        if let [.., before, last] = self.errors.as_slice()
            && before == last
        {
            self.errors.pop();
        }
    }

    /// Adds their source lines to the collected errors, and returns the errors.
    fn take_errors(&mut self) -> Vec<LanguageError> {
        for error in self.errors.iter_mut().take(MAX_DETAILED) {
            let offset = error.location.as_ref().map(|location| location.offset);
            error.details = offset.map(|offset| line_of(self.text, offset as usize));
        }
        std::mem::take(&mut self.errors)
    }

    fn error_here(&mut self, message: impl Into<String>) {
        let here = self.here();
        self.error(&here, message);
    }

    /// Reports that the current token is unexpected.
    fn unexpected(&mut self) {
        let message = self.unexpected_text();
        self.error_here(message);
    }

    /// Reports that the current token is unexpected, with a note.
    fn unexpected_but(&mut self, note: &str) {
        let mut message = self.unexpected_text();
        if self.token() != Token::Illegal {
            message.push_str(": ");
            message.push_str(note);
        }
        self.error_here(message);
    }

    fn unexpected_text(&self) -> String {
        match self.token() {
            Token::Illegal => "illegal token".to_owned(),
            token if token.is_keyword() => format!("unexpected {} keyword", token.name()),
            token => format!("unexpected {} token", token.name()),
        }
    }

    /// Opens a nested term, body or branch; reports an error if too many are open.
    fn enter(&mut self) -> Option<()> {
        if self.exhausted || self.depth >= MAX_NESTING {
            self.too_deep();
            return None;
        }
        self.depth += 1;
        Some(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn too_deep(&mut self) {
        self.exhausted = true;
        self.error_here("max parsing recursion depth exceeded");
    }

    /// Parses a node, whose height is one more than that of the highest term within it.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.enter()?;
        let outer = std::mem::take(&mut self.height);
        let node = crate::syntax::deep(|| read(self));
        self.leave();
        let result = node.and_then(|node| self.higher().map(|()| node));
        self.height = self.height.max(outer);
        result
    }

    /// Adds one to the height: counts a node around the nodes parsed so far.
    fn higher(&mut self) -> Option<()> {
        if self.height >= MAX_NESTING {
            self.too_deep();
            return None;
        }
        self.height += 1;
        Some(())
    }

    fn name(&mut self, name: &'t str) -> Arc<str> {
        self.names
            .entry(name)
            .or_insert_with(|| name.into())
            .clone()
    }

    /// Returns the variable or wildcard that the current token denotes.
    fn variable(&mut self) -> Term {
        let value = match self.lexeme() {
            "_" => self.wildcard(),
            name => Var(self.name(name)),
        };
        Term {
            value: TermValue::Var(value),
            location: self.here(),
        }
    }

    fn wildcard(&mut self) -> Var {
        let number = self.state.wildcard;
        self.state.wildcard += 1;
        Var(format!("${number}").into())
    }

    /// Returns a reference to the function of an operator.
    fn operator(&mut self, path: &[&'static str], location: &Location) -> Term {
        let mut reference = Ref::with_capacity(path.len());
        for (position, step) in path.iter().enumerate() {
            let name = self.name(step);
            reference.push(Term {
                value: if position == 0 {
                    TermValue::Var(Var(name))
                } else {
                    TermValue::String(name)
                },
                location: location.clone(),
            });
        }
        Term {
            value: TermValue::Ref(reference),
            location: location.clone(),
        }
    }
}

fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// Returns the line around a byte offset, and the offset in it, as the details of an error.
pub(super) fn line_of(text: &str, offset: usize) -> Value {
    let bytes = text.as_bytes();
    let is = |at: usize, predicate: fn(u8) -> bool| bytes.get(at).copied().is_some_and(predicate);
    let blank = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' ' | 0x85 | 0xa0);
    let line_break = |byte: u8| matches!(byte, b'\r' | b'\n');

    let mut offset = offset.min(bytes.len().saturating_sub(1));
    while offset > 0 && is(offset, blank) {
        offset -= 1;
    }
    let mut begin = offset;
    while begin > 0 && !is(begin, line_break) {
        begin -= 1;
    }
    if is(begin, line_break) {
        begin += 1;
    }
    let mut end = offset;
    while end < bytes.len() && !is(end, line_break) {
        end += 1;
    }
    begin = begin.min(end);
    let line = String::from_utf8_lossy(bytes.get(begin..end).unwrap_or_default());
    Value::object([
        ("line", Value::from(line.into_owned())),
        ("idx", Value::from(offset as i64 - begin as i64)),
    ])
}
