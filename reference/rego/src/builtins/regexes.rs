//! `regex.*`, except `regex.globs_match`.

use std::sync::Arc;

use bstr::ByteSlice;
use regex::{Captures, Regex, RegexBuilder};

use super::expected::{CallResult, integer};
use super::operand::{answer, any, bytes, characters, refuse, text};
use super::strings::bound;
use super::{Call, Failure, Group, re2};
use crate::Value;
use crate::value::{Characters, Text, quoted};

pub(super) const BUILTINS: Group = &[
    ("re_match", is_match),
    ("regex.find_all_string_submatch_n", find_groups),
    ("regex.find_n", find),
    ("regex.is_valid", |_, operands| {
        let pattern = any(operands, 1).as_str();
        answer(pattern.is_some_and(|pattern| compile(pattern).is_ok()))
    }),
    ("regex.match", is_match),
    ("regex.replace", replace),
    ("regex.split", split),
    ("regex.template_match", template_match),
];

/// So many bytes of a text are searched in the time of a unit of the meter.
const SEARCHED: usize = 256;

/// A pattern may take so much memory.
const MAX_SIZE: usize = 10 << 20;

fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = re2::translated(pattern)?;
    let mut builder = RegexBuilder::new(&translated);
    let built = builder.size_limit(MAX_SIZE).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "error parsing regexp: expression too large".to_owned(),
        other => re2::explained(&translated, &other),
    })
}

fn pattern(call: &mut Call<'_>, pattern: &Text) -> Result<Arc<Regex>, Failure> {
    call.prepared("regex", pattern, || compile(pattern).or_else(refuse))
}

fn is_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, whole) = (text(operands, 1)?, characters(operands, 2)?);
    answer(pattern(call, expression)?.is_match(whole.as_str()))
}

/// How many results are wanted: all for a negative number.
fn limit(operands: &[Value]) -> Result<usize, Failure> {
    Ok(usize::try_from(integer(operands, 3)?).unwrap_or(usize::MAX))
}

fn find(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, whole) = (text(operands, 1)?, characters(operands, 2)?);
    let limit = limit(operands)?;
    let regex = pattern(call, expression)?;
    let mut all = Vec::new();
    for found in regex.find_iter(whole.as_str()).take(limit) {
        call.search(&whole, &found)?;
        all.push(Value::string(whole.bytes(found.range())));
    }
    answer(all)
}

fn find_groups(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, whole) = (text(operands, 1)?, characters(operands, 2)?);
    let limit = limit(operands)?;
    let regex = pattern(call, expression)?;
    let mut all = Vec::new();
    for groups in regex.captures_iter(whole.as_str()).take(limit) {
        call.make(groups.len())?;
        if let Some(found) = groups.get(0) {
            call.search(&whole, &found)?;
        }
        let bytes = |group: regex::Match<'_>| whole.bytes(group.range());
        let groups = groups.iter().map(|group| group.map_or(&b""[..], bytes));
        all.push(Value::from(groups.map(Value::string).collect::<Vec<_>>()));
    }
    answer(all)
}

fn replace(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, expression) = (characters(operands, 1)?, text(operands, 2)?);
    let parts = Replacement::parse(bytes(operands, 3)?);
    let regex = pattern(call, expression)?;
    let (mut result, mut last) = (Vec::new(), 0);
    for groups in regex.captures_iter(whole.as_str()) {
        let Some(found) = groups.get(0) else { continue };
        call.search(&whole, &found)?;
        append(&mut result, whole.bytes(last..found.start()))?;
        for part in &parts {
            call.check()?;
            append(&mut result, part.expand(&groups, &whole))?;
        }
        last = found.end();
    }
    append(&mut result, whole.bytes(last..whole.as_str().len()))?;
    answer(Value::string(&result))
}

impl Call<'_> {
    /// Counts the search for a match. It may have looked as far as the end of the text, and the next
    /// one may do so, too.
    fn search(&self, whole: &Characters<'_>, found: &regex::Match<'_>) -> Result<(), Failure> {
        let ahead = whole.as_str().len().saturating_sub(found.start());
        self.spend(1 + ahead / SEARCHED)
    }
}

/// Appends to a result, which has a bound.
fn append(result: &mut Vec<u8>, part: &[u8]) -> Result<(), Failure> {
    bound(result.len().saturating_add(part.len()))?;
    result.extend_from_slice(part);
    Ok(())
}

/// A part of the text that replaces a match.
#[derive(Debug, PartialEq, Eq)]
enum Replacement<'r> {
    /// Bytes as they are.
    Plain(&'r [u8]),
    /// The match of the group of this number.
    Numbered(usize),
    /// The match of the group of this name.
    Named(&'r str),
}

impl<'r> Replacement<'r> {
    /// Parses a template in which `$name`, `${name}`, `$1` and `${1}` stand for groups and `$$` for
    /// a dollar sign. A sign that begins none of them stands for itself.
    fn parse(template: &'r [u8]) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((plain, behind)) = rest.split_once_str("$") {
            parts.push(Self::Plain(plain));
            rest = match behind {
                [b'$', behind @ ..] => {
                    parts.push(Self::Plain(b"$"));
                    behind
                }
                _ => match group_name(behind) {
                    Some((name, behind)) => {
                        parts.push(Self::of_name(name));
                        behind
                    }
                    None => {
                        parts.push(Self::Plain(b"$"));
                        behind
                    }
                },
            };
        }
        parts.push(Self::Plain(rest));
        parts
    }

    fn of_name(name: &'r str) -> Self {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let has_zeros = name.len() > 1 && name.starts_with('0');
        match name.parse() {
            Ok(number) if is_number && !has_zeros => Self::Numbered(number),
            _ => Self::Named(name),
        }
    }

    /// The bytes of the part for a match.
    fn expand<'b>(&'b self, groups: &Captures<'_>, whole: &Characters<'b>) -> &'b [u8] {
        let group = match self {
            Self::Plain(bytes) => return bytes,
            Self::Numbered(number) => groups.get(*number),
            Self::Named(name) => groups.name(name),
        };
        group.map_or(b"", |group| whole.bytes(group.range()))
    }
}

/// The name of a group at the beginning of a text, in braces or not, and what is behind it.
fn group_name(text: &[u8]) -> Option<(&str, &[u8])> {
    let (inner, in_braces) = match text {
        [b'{', inner @ ..] => (inner, true),
        _ => (text, false),
    };
    let characters = inner.utf8_chunks().next()?.valid();
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let end = characters.find(|character| !is_part(character));
    let name = characters.get(..end.unwrap_or(characters.len()))?;
    let behind = inner.get(name.len()..)?;
    match (name.is_empty(), in_braces, behind) {
        (true, ..) => None,
        (_, true, [b'}', behind @ ..]) => Some((name, behind)),
        (_, true, _) => None,
        (_, false, _) => Some((name, behind)),
    }
}

fn split(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, characters) = (text(operands, 1)?, characters(operands, 2)?);
    let regex = pattern(call, expression)?;
    let whole = characters.as_str();
    let part = |range| Value::string(characters.bytes(range));
    if whole.is_empty() && !expression.is_empty() {
        return answer(vec![Value::from("")]);
    }
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    for found in regex.find_iter(whole) {
        call.search(&characters, &found)?;
        end = found.start();
        // An empty match before all text parts nothing.
        if found.end() > 0 {
            parts.push(part(start..end));
        }
        start = found.end();
    }
    if end != whole.len() {
        parts.push(part(start..whole.len()));
    }
    answer(parts)
}

/// Matches a text against a template in which patterns stand between delimiters.
fn template_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (template, whole) = (text(operands, 1)?, characters(operands, 2)?);
    let (start, end) = (text(operands, 3)?, text(operands, 4)?);
    let delimiter = |text: &Text, name: &str| match text.as_bytes() {
        [only] => Ok(*only),
        _ => {
            let length = start.len();
            refuse(format!(
                "{name} delimiter has to be exactly one character long but is {length} long"
            ))
        }
    };
    let (open, close) = (delimiter(start, "start")?, delimiter(end, "end")?);
    let expression = joined(template, open, close)?;
    answer(pattern(call, &expression.into())?.is_match(whole.as_str()))
}

/// The pattern that a template means.
fn joined(template: &str, open: u8, close: u8) -> Result<String, Failure> {
    let unbalanced = || refuse(format!("unbalanced braces in {}", quoted(template)));
    let mut expression = String::from("^");
    let (mut level, mut from, mut inside) = (0usize, 0, 0);
    for (at, byte) in template.bytes().enumerate() {
        if byte == open {
            level += 1;
            if level == 1 {
                inside = at;
            }
        } else if byte == close {
            level = match level.checked_sub(1) {
                Some(level) => level,
                None => return unbalanced(),
            };
            if level == 0 {
                let plain = template.get(from..inside).unwrap_or_default();
                let part = template.get(inside + 1..at).unwrap_or_default();
                if let Err(message) = compile(&format!("^{part}$")) {
                    return refuse(message);
                }
                expression.push_str(&format!("{}({part})", regex::escape(plain)));
                from = at + 1;
            }
        }
    }
    if level > 0 {
        return unbalanced();
    }
    let plain = template.get(from..).unwrap_or_default();
    expression.push_str(&regex::escape(plain));
    expression.push('$');
    Ok(expression)
}
