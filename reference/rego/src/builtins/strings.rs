//! String functions except search and formatting.

use bstr::ByteSlice;
use smol_str::StrExt;

use super::expected::{CallResult, integer, items, mismatch, strings};
use super::operand::{answer, any, bytes, characters, object, refuse};
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;
use crate::hash::HashSet;
use crate::value::{Characters, Literal, Text};

pub(super) const BUILTINS: Group = &[
    ("concat", Cost::Product, concat),
    ("internal.template_string", Cost::Product, template_string),
    ("lower", Cost::Linear, lower),
    ("replace", Cost::Product, replace),
    ("split", Cost::Linear, split),
    ("strings.replace_n", Cost::Stepping, replace_n),
    ("strings.reverse", Cost::Linear, |_, operands| {
        answer(Value::string(&reversed(bytes(operands, 1)?)))
    }),
    ("strings.split_n", Cost::Stepping, split_n),
    ("substring", Cost::Linear, substring),
    ("trim", Cost::Linear, |_, operands| {
        trimmed_of(operands, |text, set| text.trim_matches(within(set)))
    }),
    ("trim_left", Cost::Linear, |_, operands| {
        trimmed_of(operands, |text, set| text.trim_start_matches(within(set)))
    }),
    ("trim_prefix", Cost::Linear, |_, operands| {
        let (source, prefix) = (bytes(operands, 1)?, bytes(operands, 2)?);
        part_of_first(operands, source.strip_prefix(prefix).unwrap_or(source))
    }),
    ("trim_right", Cost::Linear, |_, operands| {
        trimmed_of(operands, |text, set| text.trim_end_matches(within(set)))
    }),
    ("trim_space", Cost::Linear, |_, operands| {
        trimmed(operands, &characters(operands, 1)?, str::trim)
    }),
    ("trim_suffix", Cost::Linear, |_, operands| {
        let (source, suffix) = (bytes(operands, 1)?, bytes(operands, 2)?);
        part_of_first(operands, source.strip_suffix(suffix).unwrap_or(source))
    }),
    ("upper", Cost::Linear, upper),
];

/// Maximum length of a string result in bytes.
pub(super) const MAX_LENGTH: usize = 64 << 20;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["concat", "replace", "sprintf", "strings."],
    subject: "length of a string result",
    most: Maximum::Bytes(MAX_LENGTH),
}];

/// Charges a string of this length before it is allocated.
fn lengthened(call: &Call<'_>, length: usize) -> Result<(), Failure> {
    bound(length)?;
    call.make(length / 16)
}

/// Fails if a string of this length exceeds the limit.
pub(super) fn bound(length: usize) -> Result<(), Failure> {
    if length > MAX_LENGTH {
        return refuse(format!("a string may be at most {MAX_LENGTH} bytes long"));
    }
    Ok(())
}

fn concat(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let separator = bytes(operands, 1)?;
    let mut collection = items(operands, 2, &["set", "array"])?;
    if let (1, Some(only)) = (collection.len(), collection.next())
        && only.is_string()
    {
        return answer(only.clone());
    }
    let parts = strings(operands, 2, &["set", "array"])?;
    call.spend(parts.len())?;
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = length.saturating_add(separator.len().saturating_mul(parts.len()));
    lengthened(call, length)?;
    answer(Value::string(&parts.join(separator)))
}

/// Returns the operand, if it is an ASCII string.
fn ascii(operands: &[Value]) -> Option<&Text> {
    match any(operands, 1) {
        Value::String(text) if text.is_ascii() => Some(text),
        _ => None,
    }
}

/// Converts to upper case, each character to exactly one, so that `ß` stays. An ASCII string is
/// shared if nothing changes.
fn upper(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    if let Some(text) = ascii(operands) {
        return answer(match text.bytes().any(|byte| byte.is_ascii_lowercase()) {
            true => text.to_ascii_uppercase_smolstr(),
            false => text.clone(),
        });
    }
    let upper = |character: char| {
        let mut upper = character.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(only), None) => only,
            _ => upper_alone(character),
        }
    };
    let text = characters(operands, 1)?;
    answer(text.as_str().chars().map(upper).collect::<Text>())
}

/// Returns one character for a character whose full upper case is several: its simple upper case if
/// there is one, as for letters with iota subscript, or else itself.
fn upper_alone(character: char) -> char {
    let code = u32::from(character);
    let distance = match code {
        0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7 => 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => 9,
        _ => 0,
    };
    char::from_u32(code + distance).unwrap_or(character)
}

fn lower(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    if let Some(text) = ascii(operands) {
        return answer(match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => text.to_ascii_lowercase_smolstr(),
            false => text.clone(),
        });
    }
    let text = characters(operands, 1)?;
    let lower = text.as_str().chars().map(lower_alone);
    answer(lower.collect::<Text>())
}

/// Returns the lower case of a character as one character, independent of context.
fn lower_alone(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

/// Converts a string to lower case, character by character.
pub(super) fn lowered(text: &str) -> String {
    text.chars().map(lower_alone).collect()
}

/// Reverses the characters of a string; a byte that is not UTF-8 counts as one.
fn reversed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut buffer = [0; 4];
            let encoded = character.encode_utf8(&mut buffer);
            out.extend(encoded.bytes().rev());
        }
        out.extend_from_slice(chunk.invalid());
    }
    out.reverse();
    out
}

/// Maximum length in bytes of a set of characters that is searched linearly.
const FEW: usize = 32;

/// Returns a predicate for membership in a set of characters.
fn within(set: &str) -> impl Fn(char) -> bool {
    let many: Option<HashSet<char>> = (set.len() > FEW).then(|| set.chars().collect());
    move |character| match &many {
        Some(many) => many.contains(&character),
        None => set.contains(character),
    }
}

/// Trims the characters of the second operand from the ends of the first.
fn trimmed_of(
    operands: &[Value],
    trim: impl for<'t> FnOnce(&'t str, &str) -> &'t str,
) -> CallResult {
    let source = characters(operands, 1)?;
    let set = characters(operands, 2)?;
    trimmed(operands, &source, |text| trim(text, set.as_str()))
}

/// Applies `trim` to the first operand, which is also given as characters.
fn trimmed(
    operands: &[Value],
    characters: &Characters<'_>,
    trim: impl FnOnce(&str) -> &str,
) -> CallResult {
    let text = characters.as_str();
    let result = trim(text);
    let start = result.as_ptr().addr() - text.as_ptr().addr();
    part_of_first(operands, characters.bytes(start..start + result.len()))
}

/// Returns a part of the first operand; a part that is the whole operand is shared.
fn part_of_first(operands: &[Value], part: &[u8]) -> CallResult {
    let value = any(operands, 1);
    match value.as_bytes() {
        Some(bytes) if bytes.len() == part.len() => answer(value.clone()),
        _ => answer(Value::string(part)),
    }
}

fn replace(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (text, old, new) = (
        bytes(operands, 1)?,
        bytes(operands, 2)?,
        bytes(operands, 3)?,
    );
    call.check()?;
    if old.is_empty() {
        return interleaved(call, text, new);
    }
    let count = text.find_iter(old).count();
    if count == 0 {
        return answer(any(operands, 1).clone());
    }
    lengthened(
        call,
        text.len().saturating_add(count.saturating_mul(new.len())),
    )?;
    answer(Value::string(&text.replace(old, new)))
}

/// Inserts a string before, after and between all bytes of another.
fn interleaved(call: &Call<'_>, text: &[u8], new: &[u8]) -> CallResult {
    let count = text.len() + 1;
    lengthened(
        call,
        text.len().saturating_add(count.saturating_mul(new.len())),
    )?;
    let mut result = new.to_vec();
    for byte in text {
        result.push(*byte);
        result.extend_from_slice(new);
    }
    answer(Value::string(&result))
}

/// Replaces all patterns in one pass. Of several that match at an offset, the first key wins.
fn replace_n(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut pairs = Vec::new();
    for (old, new) in object(operands, 1)? {
        let Some(old) = old.as_bytes() else {
            return mismatch("operand 1 non-string key found in pattern object");
        };
        let Some(new) = new.as_bytes() else {
            return mismatch("operand 1 non-string value found in pattern object");
        };
        pairs.push((old, new));
    }
    let text = bytes(operands, 2)?;
    // The members are sorted, so those with the same first byte are adjacent; an empty name is the
    // first of all and matches everywhere.
    let empty = pairs.first().filter(|(old, _)| old.is_empty()).copied();
    let first = |old: &[u8]| old.first().copied();
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    // At one offset the empty name matches once, and then another may.
    let mut emptied = false;
    loop {
        call.check()?;
        bound(result.len())?;
        let head = first(rest);
        let from = pairs.partition_point(|(old, _)| first(old) < head);
        let to = pairs.partition_point(|(old, _)| first(old) <= head);
        let mut candidates = pairs.get(from..to).unwrap_or_default().iter();
        call.spend(candidates.len() / 16)?;
        let found = empty.filter(|_| !emptied).or_else(|| {
            let matches = |(old, _): &&(&[u8], _)| !old.is_empty() && rest.starts_with(old);
            candidates.find(matches).copied()
        });
        emptied = found.is_some_and(|(old, _)| old.is_empty());
        if let Some((old, new)) = found {
            lengthened(call, new.len())?;
            result.extend_from_slice(new);
            rest = rest.get(old.len()..).unwrap_or_default();
            continue;
        }
        let Some((byte, tail)) = rest.split_first() else {
            return answer(Value::string(&result));
        };
        result.push(*byte);
        rest = tail;
    }
}

/// Splits a string at the separators; between all characters, if the separator is empty.
fn parts<'t>(text: &'t [u8], separator: &'t [u8]) -> Vec<&'t [u8]> {
    if separator.is_empty() {
        let characters = Characters::of(text);
        let starts = characters.as_str().char_indices();
        let ends = starts.map(|(at, character)| (at, at + character.len_utf8()));
        return ends
            .map(|(start, end)| characters.bytes(start..end))
            .collect();
    }
    text.split_str(separator).collect()
}

fn values<'t>(parts: impl IntoIterator<Item = &'t [u8]>) -> Vec<Value> {
    parts.into_iter().map(Value::string).collect()
}

fn split(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (text, separator) = (bytes(operands, 1)?, bytes(operands, 2)?);
    if !text.contains_str(separator) {
        return answer(vec![any(operands, 1).clone()]);
    }
    answer(values(parts(text, separator)))
}

/// Splits a string and returns as many of the first parts as given, or of the last if negative.
fn split_n(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (text, separator) = (bytes(operands, 1)?, bytes(operands, 2)?);
    let count = integer(operands, 3)?;
    let parts = parts(text, separator);
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let size = size.min(parts.len());
    let skipped = if count < 0 { parts.len() - size } else { 0 };
    answer(values(parts.into_iter().skip(skipped).take(size)))
}

fn substring(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let characters = characters(operands, 1)?;
    let text = characters.as_str();
    let (start, length) = (integer(operands, 2)?, integer(operands, 3)?);
    let Ok(start) = usize::try_from(start) else {
        return refuse("negative offset");
    };
    let is_ascii = text.is_ascii();
    let place = |count: usize| {
        if is_ascii {
            return count.min(text.len());
        }
        let mut places = text.char_indices().skip(count);
        places.next().map_or(text.len(), |(at, _)| at)
    };
    let from = place(start);
    let to =
        usize::try_from(length).map_or(text.len(), |length| place(start.saturating_add(length)));
    let operand = any(operands, 1);
    if from == 0 && to == text.len() && (length >= 0 || operand.as_str().is_some()) {
        return answer(operand.clone());
    }
    answer(text.get(from..to).unwrap_or_default())
}

/// Joins the parts of a template string: scalars, and sets of at most one value.
fn template_string(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut result = Vec::new();
    for part in items(operands, 1, &["array"])? {
        let item_text = match part {
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
        call.check()?;
        match item_text {
            None => result.extend_from_slice(b"<undefined>"),
            Some(value) => match value.as_bytes() {
                Some(bytes) => {
                    bound(result.len().saturating_add(bytes.len()))?;
                    call.make(bytes.len() / 16)?;
                    result.extend_from_slice(bytes);
                }
                None => {
                    call.unfold([value])?;
                    result.extend_from_slice(Literal(value).to_string().as_bytes());
                }
            },
        }
        bound(result.len())?;
    }
    answer(Value::string(&result))
}
