//! Single-pass JSON parser.

use super::object::{Member, Shapes};
use super::{Array, MAX_DEPTH, Number, Text, Value};
use crate::hash::HashMap;

/// Syntax error and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON at line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the error.
    pub message: &'static str,
}

/// Parses a text that contains one value. Of members with the same name the last one counts.
///
/// # Errors
/// If the text is not UTF-8, is not JSON or is nested deeper than [`MAX_DEPTH`].
pub fn from_json(text: &[u8]) -> Result<Value, SyntaxError> {
    let mut reader = Reader::new(text)?;
    let value = reader.value(0)?;
    reader.end()?;
    Ok(value)
}

/// Parses a text like [`from_json`], as input of policies: numbers with an exponent that is out of
/// range for computations are rejected. Such numbers can be stored, but not compared in a bounded
/// time.
///
/// # Errors
/// As [`from_json`], and for such a number.
pub fn input_from_json(text: &[u8]) -> Result<Value, SyntaxError> {
    let mut reader = Reader::new(text)?;
    reader.is_bounded = true;
    let value = reader.value(0)?;
    reader.end()?;
    Ok(value)
}

/// Parses the value at the start of a text and ignores everything after it.
///
/// # Errors
/// As [`from_json`].
pub fn from_json_prefix(text: &[u8]) -> Result<Value, SyntaxError> {
    Reader::new(text)?.value(0)
}

/// Parses items in output format, without the brackets of the array.
pub(super) fn read_items(text: &str) -> Vec<Value> {
    read_list(text, |reader| reader.value(0))
}

/// Parses members in output format, without the brackets of the object.
pub(super) fn read_members(text: &str) -> Vec<Member> {
    read_list(text, |reader| reader.member(0))
}

/// Parses a list. INVARIANT: the text was written from parsed values, so it is parsed to its end.
fn read_list<'t, T>(
    text: &'t str,
    read: impl Fn(&mut Reader<'t>) -> Result<T, SyntaxError>,
) -> Vec<T> {
    let mut reader = Reader::at(text, 0);
    let mut list = Vec::new();
    while let Ok(one) = read(&mut reader) {
        list.push(one);
        if !reader.eat(b',') {
            break;
        }
    }
    list.shrink_to_fit();
    list
}

/// Maximum number of interned names, and the range of their lengths in bytes. Shorter names are not
/// interned, because they need no allocation.
const MAX_NAMES: usize = 1024;
const NAME: std::ops::RangeInclusive<usize> = 24..=64;

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Whether numbers that are out of range for computations are rejected.
    is_bounded: bool,
    names: HashMap<&'t str, Text>,
    shapes: Shapes,
    /// Items of all open arrays.
    items: Vec<Value>,
    /// Members of all open objects.
    members: Vec<Member>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t [u8]) -> Result<Self, SyntaxError> {
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Self::at(text, 0)),
            Err(broken) => {
                let before = text.get(..broken.valid_up_to()).unwrap_or_default();
                let text = std::str::from_utf8(before).unwrap_or_default();
                let at = text.len();
                Err(Reader::at(text, at).error("not UTF-8"))
            }
        }
    }

    pub(super) fn at(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            is_bounded: false,
            names: HashMap::default(),
            shapes: Shapes::default(),
            items: Vec::new(),
            members: Vec::new(),
        }
    }

    pub(super) fn error(&self, message: &'static str) -> SyntaxError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        SyntaxError {
            line: before.matches('\n').count() + 1,
            column: in_line.chars().count() + 1,
            message,
        }
    }

    /// Rejects anything but whitespace up to the end of the text.
    pub(super) fn end(&mut self) -> Result<(), SyntaxError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("expected nothing after the value")),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips whitespace and then this byte, if it is next. Returns whether it was.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    pub(super) fn value(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => Err(self.error("expected a value")),
            None => Err(self.error("expected a value, the text ends here")),
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, SyntaxError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.error("expected a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    /// Skips the bracket of an array or object; returns the nesting depth of its contents.
    pub(super) fn enter(&mut self, depth: usize) -> Result<usize, SyntaxError> {
        if depth >= MAX_DEPTH {
            return Err(self.error("nested too deep, 512 levels are allowed"));
        }
        self.at += 1;
        Ok(depth + 1)
    }

    fn array(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let depth = self.enter(depth)?;
        let start = self.items.len();
        if !self.eat(b']') {
            loop {
                let item = self.value(depth)?;
                self.items.push(item);
                if self.eat(b']') {
                    break;
                }
                if !self.eat(b',') {
                    return Err(self.error("expected `,` or `]`"));
                }
            }
        }
        Ok(Value::Array(Array::of_items(self.items.drain(start..))))
    }

    fn object(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let depth = self.enter(depth)?;
        let start = self.members.len();
        if !self.eat(b'}') {
            loop {
                let member = self.member(depth)?;
                self.members.push(member);
                if self.eat(b'}') {
                    break;
                }
                if !self.eat(b',') {
                    return Err(self.error("expected `,` or `}`"));
                }
            }
        }
        let members = self.shapes.object(&mut self.members, start);
        Ok(Value::Object(members))
    }

    fn member(&mut self, depth: usize) -> Result<Member, SyntaxError> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a member name"));
        }
        let name = self.name()?;
        if !self.eat(b':') {
            return Err(self.error("expected `:`"));
        }
        Ok((Value::String(name), self.value(depth)?))
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("expected a digit"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, SyntaxError> {
        let text = self.number_text()?;
        Ok(Value::Number(Number::of_checked(text)))
    }

    pub(super) fn number_text(&mut self) -> Result<&'t str, SyntaxError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
            if self.is_bounded {
                self.check_exponent(start)?;
            }
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Rejects a number that is out of range for computations.
    fn check_exponent(&mut self, start: usize) -> Result<(), SyntaxError> {
        let text = self.text.get(start..self.at).unwrap_or_default();
        if Number::of_checked(text).is_computable() {
            return Ok(());
        }
        self.at = start;
        Err(self.error("number too big"))
    }

    /// Parses the name of a member.
    fn name(&mut self) -> Result<Text, SyntaxError> {
        self.at += 1;
        let prefix = self.unescaped_run();
        if self.peek() != Some(b'"') || !NAME.contains(&prefix.len()) {
            return self.string_from(prefix);
        }
        self.at += 1;
        if let Some(name) = self.names.get(prefix) {
            return Ok(name.clone());
        }
        let name = Text::from(prefix);
        if self.names.len() < MAX_NAMES {
            self.names.insert(prefix, name.clone());
        }
        Ok(name)
    }

    fn string(&mut self) -> Result<Text, SyntaxError> {
        self.at += 1;
        let prefix = self.unescaped_run();
        self.string_from(prefix)
    }

    /// Parses the rest of a string after its unescaped beginning.
    pub(super) fn string_from(&mut self, prefix: &str) -> Result<Text, SyntaxError> {
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(prefix.into());
        }
        let mut text = prefix.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text.into());
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("the string does not end")),
            }
            text.push_str(self.unescaped_run());
        }
    }

    /// Reads characters up to the next quote, backslash or control character.
    pub(super) fn unescaped_run(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        let length = rest.as_bytes().iter().position(special);
        let run = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
        self.at += run.len();
        run
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        self.at += 1;
        let unescaped = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.error("unknown escape")),
        };
        self.at += 1;
        Ok(unescaped)
    }

    /// Parses a `\u` escape, or two that form a surrogate pair. An unpaired surrogate becomes the
    /// replacement character.
    fn unicode(&mut self) -> Result<char, SyntaxError> {
        let first = self.hex()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let after_first = self.at;
        let paired = self
            .text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with("\\u"));
        if paired && first < 0xdc00 {
            self.at += 1;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code_point = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after_first;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// Parses the four hexadecimal digits after the `u`.
    fn hex(&mut self) -> Result<u32, SyntaxError> {
        let digits = self.text.get(self.at + 1..self.at + 5).unwrap_or_default();
        let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        match u32::from_str_radix(digits, 16) {
            Ok(code) if all => {
                self.at += 5;
                Ok(code)
            }
            _ => Err(self.error("expected four hexadecimal digits")),
        }
    }
}
