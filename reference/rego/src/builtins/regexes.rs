//! `regex.*`, except `regex.globs_match`.

use std::ops::ControlFlow;
use std::sync::Arc;

use bstr::ByteSlice;

use super::expected::{CallResult, integer};
use super::operand::{answer, any, bytes, characters, refuse, text};
use super::pattern::{Groups, MAX_SIZE, Pattern};
use super::strings::bound;
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum, re2};
use crate::Value;
use crate::value::{Characters, Text, quoted};

pub(super) const BUILTINS: Group = &[
    ("re_match", Cost::Match, is_match),
    (
        "regex.find_all_string_submatch_n",
        Cost::Stepping,
        find_groups,
    ),
    ("regex.find_n", Cost::Stepping, find),
    ("regex.is_valid", Cost::Library, |_, operands| {
        let pattern = any(operands, 1).as_str();
        answer(pattern.is_some_and(|pattern| compile(pattern).is_ok()))
    }),
    ("regex.match", Cost::Match, is_match),
    ("regex.replace", Cost::Stepping, replace),
    ("regex.split", Cost::Stepping, split),
    ("regex.template_match", Cost::Stepping, template_match),
];

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["regex."],
    subject: "memory of a compiled pattern",
    most: Maximum::Bytes(MAX_SIZE),
}];

fn compile(expression: &str) -> Result<Pattern, String> {
    let parsed = re2::parse(expression).map_err(|reason| reason.to_string())?;
    let compiled = Pattern::of(parsed.meaning, parsed.names);
    compiled.map_err(|error| error.to_string())
}

fn pattern(call: &mut Call<'_>, expression: &Text) -> Result<Arc<Pattern>, Failure> {
    call.prepared("regex", expression, |call| {
        // Compilation time grows with the pattern, and compilation is not interruptible.
        call.spend(expression.len())?;
        compile(expression).or_else(refuse)
    })
}

fn is_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, haystack) = (text(operands, 1)?, characters(operands, 2)?);
    answer(pattern(call, expression)?.is_match(call, haystack.as_str())?)
}

/// Returns the maximum number of results; a negative operand means unlimited.
fn limit(operands: &[Value]) -> Result<usize, Failure> {
    Ok(usize::try_from(integer(operands, 3)?).unwrap_or(usize::MAX))
}

/// Continues a search while there are fewer results than the limit.
fn stop_at(count: usize, limit: usize) -> ControlFlow<()> {
    match count < limit {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    }
}

fn find(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, haystack) = (text(operands, 1)?, characters(operands, 2)?);
    let limit = limit(operands)?;
    let pattern = pattern(call, expression)?;
    let mut all = Vec::new();
    if limit > 0 {
        pattern.each_match(call, haystack.as_str(), &mut |groups| {
            call.make(2)?;
            all.push(Value::string(haystack.bytes(groups.full_match())));
            Ok(stop_at(all.len(), limit))
        })?;
    }
    answer(all)
}

fn find_groups(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, haystack) = (text(operands, 1)?, characters(operands, 2)?);
    let limit = limit(operands)?;
    let pattern = pattern(call, expression)?;
    let mut all = Vec::new();
    if limit > 0 {
        pattern.each_groups(call, haystack.as_str(), &mut |groups| {
            let bytes = |span: Option<_>| span.map_or(&b""[..], |span| haystack.bytes(span));
            let groups = groups.iter().map(bytes).map(Value::string);
            let groups: Vec<_> = groups.collect();
            call.make(2 + groups.len())?;
            all.push(Value::from(groups));
            Ok(stop_at(all.len(), limit))
        })?;
    }
    answer(all)
}

fn replace(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (haystack, expression) = (characters(operands, 1)?, text(operands, 2)?);
    let parts = Replacement::parse(bytes(operands, 3)?);
    let pattern = pattern(call, expression)?;
    let (mut result, mut last) = (Vec::new(), 0);
    pattern.each_groups(call, haystack.as_str(), &mut |groups| {
        let found = groups.full_match();
        append(call, &mut result, haystack.bytes(last..found.start))?;
        for part in &parts {
            append(call, &mut result, part.expand(&groups, &haystack))?;
        }
        last = found.end;
        Ok(ControlFlow::Continue(()))
    })?;
    append(
        call,
        &mut result,
        haystack.bytes(last..haystack.as_str().len()),
    )?;
    answer(Value::string(&result))
}

/// Appends to a result of limited length.
fn append(call: &Call<'_>, result: &mut Vec<u8>, part: &[u8]) -> Result<(), Failure> {
    bound(result.len().saturating_add(part.len()))?;
    call.make(1 + part.len() / 16)?;
    result.extend_from_slice(part);
    Ok(())
}

/// Part of a replacement template.
#[derive(Debug, PartialEq, Eq)]
enum Replacement<'r> {
    /// Literal bytes.
    Plain(&'r [u8]),
    /// Match of the group with this number.
    Numbered(usize),
    /// Match of the group with this name.
    Named(&'r str),
}

impl<'r> Replacement<'r> {
    /// Parses a template in which `$name`, `${name}`, `$1` and `${1}` refer to groups and `$$` is a
    /// dollar sign. Any other dollar sign is literal.
    fn parse(template: &'r [u8]) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((literal, tail)) = rest.split_once_str("$") {
            parts.push(Self::Plain(literal));
            rest = match tail {
                [b'$', tail @ ..] => {
                    parts.push(Self::Plain(b"$"));
                    tail
                }
                _ => match group_name(tail) {
                    Some((name, tail)) => {
                        parts.push(Self::of_name(name));
                        tail
                    }
                    None => {
                        parts.push(Self::Plain(b"$"));
                        tail
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

    /// Returns the bytes that this part of the template inserts for a match.
    fn expand<'b>(&'b self, groups: &Groups<'_>, haystack: &Characters<'b>) -> &'b [u8] {
        let group = match self {
            Self::Plain(bytes) => return bytes,
            Self::Numbered(number) => groups.get(*number),
            Self::Named(name) => groups.name(name),
        };
        group.map_or(b"", |group| haystack.bytes(group))
    }
}

/// Parses a group name, in braces or not, and returns it with the rest of the template.
fn group_name(text: &[u8]) -> Option<(&str, &[u8])> {
    let (inner, in_braces) = match text {
        [b'{', inner @ ..] => (inner, true),
        _ => (text, false),
    };
    let characters = inner.utf8_chunks().next()?.valid();
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let end = characters.find(|character| !is_part(character));
    let name = characters.get(..end.unwrap_or(characters.len()))?;
    let rest = inner.get(name.len()..)?;
    match (name.is_empty(), in_braces, rest) {
        (true, ..) => None,
        (_, true, [b'}', rest @ ..]) => Some((name, rest)),
        (_, true, _) => None,
        (_, false, _) => Some((name, rest)),
    }
}

fn split(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, characters) = (text(operands, 1)?, characters(operands, 2)?);
    let pattern = pattern(call, expression)?;
    let haystack = characters.as_str();
    let part = |range| Value::string(characters.bytes(range));
    if haystack.is_empty() && !expression.is_empty() {
        return answer(vec![Value::from("")]);
    }
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    pattern.each_match(call, haystack, &mut |groups| {
        let found = groups.full_match();
        end = found.start;
        // An empty match at the start of the string does not split it.
        if found.end > 0 {
            call.make(2)?;
            parts.push(part(start..end));
        }
        start = found.end;
        Ok(ControlFlow::Continue(()))
    })?;
    if end != haystack.len() {
        parts.push(part(start..haystack.len()));
    }
    answer(parts)
}

/// Matches a string against a template that contains patterns between delimiters.
fn template_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (template, haystack) = (text(operands, 1)?, characters(operands, 2)?);
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
    let expression = joined(call, template, open, close)?;
    answer(pattern(call, &expression.into())?.is_match(call, haystack.as_str())?)
}

/// Translates a template into one pattern.
fn joined(call: &Call<'_>, template: &str, open: u8, close: u8) -> Result<String, Failure> {
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
                let literal = template.get(from..inside).unwrap_or_default();
                let part = template.get(inside + 1..at).unwrap_or_default();
                call.begin()?;
                if let Err(message) = compile(&format!("^{part}$")) {
                    return refuse(message);
                }
                expression.push_str(&format!("{}({part})", regex::escape(literal)));
                from = at + 1;
            }
        }
    }
    if level > 0 {
        return unbalanced();
    }
    let literal = template.get(from..).unwrap_or_default();
    expression.push_str(&regex::escape(literal));
    expression.push('$');
    Ok(expression)
}
