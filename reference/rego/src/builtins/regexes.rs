//! `regex.*`, except `regex.globs_match`.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::expected::{CallResult, integer};
use super::operand::{answer, any, refuse, text};
use super::strings::bound;
use super::{Call, Failure, Group, re2};
use crate::Value;
use crate::value::{Text, quoted};

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
    let (expression, whole) = (text(operands, 1)?, text(operands, 2)?);
    answer(pattern(call, expression)?.is_match(whole))
}

/// How many results are wanted: all for a negative number.
fn limit(operands: &[Value]) -> Result<usize, Failure> {
    Ok(usize::try_from(integer(operands, 3)?).unwrap_or(usize::MAX))
}

fn find(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, whole) = (text(operands, 1)?, text(operands, 2)?);
    let limit = limit(operands)?;
    let regex = pattern(call, expression)?;
    let found = regex.find_iter(whole).take(limit);
    answer(
        found
            .map(|found| Value::from(found.as_str()))
            .collect::<Vec<_>>(),
    )
}

fn find_groups(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, whole) = (text(operands, 1)?, text(operands, 2)?);
    let limit = limit(operands)?;
    let regex = pattern(call, expression)?;
    let mut all = Vec::new();
    for groups in regex.captures_iter(whole).take(limit) {
        call.check()?;
        let groups = groups
            .iter()
            .map(|group| group.map_or("", |group| group.as_str()));
        all.push(Value::from(groups.map(Value::from).collect::<Vec<_>>()));
    }
    answer(all)
}

fn replace(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, expression) = (text(operands, 1)?, text(operands, 2)?);
    let replacement = text(operands, 3)?;
    let regex = pattern(call, expression)?;
    let (mut result, mut last) = (String::new(), 0);
    for groups in regex.captures_iter(whole) {
        call.check()?;
        bound(result.len())?;
        if let Some(found) = groups.get(0) {
            result.push_str(whole.get(last..found.start()).unwrap_or_default());
            groups.expand(replacement, &mut result);
            last = found.end();
        }
    }
    result.push_str(whole.get(last..).unwrap_or_default());
    answer(result)
}

fn split(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (expression, whole) = (text(operands, 1)?, text(operands, 2)?);
    let regex = pattern(call, expression)?;
    if whole.is_empty() && !expression.is_empty() {
        return answer(vec![Value::from("")]);
    }
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    for found in regex.find_iter(whole) {
        end = found.start();
        // An empty match before all text parts nothing.
        if found.end() > 0 {
            parts.push(Value::from(whole.get(start..end).unwrap_or_default()));
        }
        start = found.end();
    }
    if end != whole.len() {
        parts.push(Value::from(whole.get(start..).unwrap_or_default()));
    }
    answer(parts)
}

/// Matches a text against a template in which patterns stand between delimiters.
fn template_match(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (template, whole) = (text(operands, 1)?, text(operands, 2)?);
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
    answer(pattern(call, &expression.into())?.is_match(whole))
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
