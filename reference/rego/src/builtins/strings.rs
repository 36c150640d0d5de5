//! Strings, what is neither searching nor formatting.

use smol_str::StrExt;

use super::expected::{CallResult, integer, items, mismatch, texts};
use super::operand::{answer, any, object, refuse, text};
use super::{Call, Failure, Group};
use crate::Value;
use crate::value::{Literal, Text};

pub(super) const BUILTINS: Group = &[
    ("concat", concat),
    ("internal.template_string", template_string),
    ("lower", lower),
    ("replace", replace),
    ("split", split),
    ("strings.replace_n", replace_n),
    ("strings.reverse", |_, operands| {
        answer(text(operands, 1)?.chars().rev().collect::<String>())
    }),
    ("strings.split_n", split_n),
    ("substring", substring),
    ("trim", |_, operands| {
        let set = text(operands, 2)?;
        trimmed(operands, |text| text.trim_matches(|c| set.contains(c)))
    }),
    ("trim_left", |_, operands| {
        let set = text(operands, 2)?;
        trimmed(operands, |text| {
            text.trim_start_matches(|c| set.contains(c))
        })
    }),
    ("trim_prefix", |_, operands| {
        let prefix = text(operands, 2)?;
        trimmed(operands, |text| {
            text.strip_prefix(&**prefix).unwrap_or(text)
        })
    }),
    ("trim_right", |_, operands| {
        let set = text(operands, 2)?;
        trimmed(operands, |text| text.trim_end_matches(|c| set.contains(c)))
    }),
    ("trim_space", |_, operands| trimmed(operands, str::trim)),
    ("trim_suffix", |_, operands| {
        let suffix = text(operands, 2)?;
        trimmed(operands, |text| {
            text.strip_suffix(&**suffix).unwrap_or(text)
        })
    }),
    ("upper", upper),
];

/// Strings that would become longer are refused.
pub(super) const MAX_LENGTH: usize = 64 << 20;

/// Fails before a string of this length is made.
pub(super) fn bound(length: usize) -> Result<(), Failure> {
    if length > MAX_LENGTH {
        return refuse(format!("a string may be at most {MAX_LENGTH} bytes long"));
    }
    Ok(())
}

fn concat(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let separator = text(operands, 1)?;
    let mut collection = items(operands, 2, &["set", "array"])?;
    if let (1, Some(only @ Value::String(_))) = (collection.len(), collection.next()) {
        return answer(only.clone());
    }
    let parts = texts(operands, 2, &["set", "array"])?;
    call.spend(parts.len())?;
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = length.saturating_add(separator.len().saturating_mul(parts.len()));
    bound(length)?;
    answer(parts.join(separator))
}

/// One character for each, so that `ß` stays. A string of ASCII is shared when nothing changes.
fn upper(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let text = text(operands, 1)?;
    if text.is_ascii() {
        return answer(match text.bytes().any(|byte| byte.is_ascii_lowercase()) {
            true => text.to_ascii_uppercase_smolstr(),
            false => text.clone(),
        });
    }
    let upper = |character: char| {
        let mut upper = character.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(only), None) => only,
            _ => character,
        }
    };
    answer(text.chars().map(upper).collect::<Text>())
}

fn lower(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let text = text(operands, 1)?;
    if text.is_ascii() {
        return answer(match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => text.to_ascii_lowercase_smolstr(),
            false => text.clone(),
        });
    }
    let lower = |character: char| character.to_lowercase().next().unwrap_or(character);
    answer(text.chars().map(lower).collect::<Text>())
}

fn trimmed<'o>(operands: &'o [Value], trim: impl FnOnce(&'o str) -> &'o str) -> CallResult {
    let text = text(operands, 1)?;
    let result = trim(text);
    if result.len() == text.len() {
        return answer(text.clone());
    }
    answer(result)
}

fn replace(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, old, new) = (text(operands, 1)?, text(operands, 2)?, text(operands, 3)?);
    call.check()?;
    let count = whole.matches(&**old).count();
    if count == 0 {
        return answer(whole.clone());
    }
    bound(whole.len().saturating_add(count.saturating_mul(new.len())))?;
    answer(whole.replace(&**old, new))
}

/// Replaces all at once. Of the names that fit at a place the first in order counts.
fn replace_n(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut pairs = Vec::new();
    for (old, new) in object(operands, 1)? {
        let Some(old) = old.as_str() else {
            return mismatch("operand 1 non-string key found in pattern object");
        };
        let Some(new) = new.as_str() else {
            return mismatch("operand 1 non-string value found in pattern object");
        };
        pairs.push((old, new));
    }
    let whole = text(operands, 2)?;
    // The members are in order, so those that begin with a byte stand together; an empty name is
    // the first of all and fits everywhere.
    let empty = pairs.first().filter(|(old, _)| old.is_empty()).copied();
    let first = |old: &str| old.as_bytes().first().copied();
    let mut result = String::with_capacity(whole.len());
    let mut rest: &str = whole;
    // At one place the empty name fits once, and then another may.
    let mut emptied = false;
    loop {
        call.check()?;
        bound(result.len())?;
        let head = first(rest);
        let from = pairs.partition_point(|(old, _)| first(old) < head);
        let candidates = pairs.get(from..).unwrap_or_default().iter();
        let mut candidates = candidates.take_while(|(old, _)| first(old) == head);
        let found = empty.filter(|_| !emptied).or_else(|| {
            let fits = |(old, _): &&(&str, _)| !old.is_empty() && rest.starts_with(old);
            candidates.find(fits).copied()
        });
        emptied = found.is_some_and(|(old, _)| old.is_empty());
        if let Some((old, new)) = found {
            result.push_str(new);
            rest = rest.get(old.len()..).unwrap_or_default();
            continue;
        }
        let Some(character) = rest.chars().next() else {
            return answer(result);
        };
        result.push(character);
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
}

/// The parts between the separators; between all characters, if that is empty.
fn parts<'t>(whole: &'t str, separator: &'t str) -> Vec<&'t str> {
    if separator.is_empty() {
        let ends = whole.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
        return ends
            .filter_map(|(start, end)| whole.get(start..end))
            .collect();
    }
    whole.split(separator).collect()
}

fn strings<'t>(parts: impl IntoIterator<Item = &'t str>) -> Vec<Value> {
    parts.into_iter().map(Value::from).collect()
}

fn split(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, separator) = (text(operands, 1)?, text(operands, 2)?);
    if !whole.contains(&**separator) {
        return answer(vec![any(operands, 1).clone()]);
    }
    answer(strings(parts(whole, separator)))
}

/// The first parts, or the last if the number is negative.
fn split_n(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, separator) = (text(operands, 1)?, text(operands, 2)?);
    let count = integer(operands, 3)?;
    let parts = parts(whole, separator);
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let size = size.min(parts.len());
    let skipped = if count < 0 { parts.len() - size } else { 0 };
    answer(strings(parts.into_iter().skip(skipped).take(size)))
}

fn substring(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let whole = text(operands, 1)?;
    let (start, length) = (integer(operands, 2)?, integer(operands, 3)?);
    let Ok(start) = usize::try_from(start) else {
        return refuse("negative offset");
    };
    let place = |count: usize| {
        if whole.is_ascii() {
            return count.min(whole.len());
        }
        let mut places = whole.char_indices().skip(count);
        places.next().map_or(whole.len(), |(at, _)| at)
    };
    let from = place(start);
    let to =
        usize::try_from(length).map_or(whole.len(), |length| place(start.saturating_add(length)));
    if from == 0 && to == whole.len() {
        return answer(whole.clone());
    }
    answer(whole.get(from..to).unwrap_or_default())
}

/// Joins the parts of a template string: scalars, and sets of at most one value.
fn template_string(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut result = String::new();
    for part in items(operands, 1, &["array"])? {
        let shown = match part {
            Value::Set(values) => {
                let mut values = values.iter();
                match (values.next(), values.next()) {
                    (None, _) => None,
                    (Some(only), None) => Some(only),
                    _ => {
                        let several = "template-strings must not produce multiple outputs";
                        return Err(Failure::Halt(several.to_owned()));
                    }
                }
            }
            Value::Array(_) | Value::Object(_) => {
                let kind = part.kind();
                return Err(Failure::Halt(format!("illegal argument type: {kind}")));
            }
            scalar => Some(scalar),
        };
        match shown {
            None => result.push_str("<undefined>"),
            Some(Value::String(text)) => result.push_str(text),
            Some(other) => result.push_str(&Literal(other).to_string()),
        }
        bound(result.len())?;
    }
    answer(result)
}
