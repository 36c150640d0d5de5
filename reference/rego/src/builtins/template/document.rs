//! Values that templates support: those that are serialized as JSON in a policy.

use crate::Value;
use crate::builtins::operand::refuse;
use crate::builtins::{Call, Failure};
use crate::value::{Characters, Literal, escape};

/// Fails at the first part of a value that is not valid JSON.
pub(super) fn check(call: &Call<'_>, value: &Value) -> Result<(), Failure> {
    call.check()?;
    if let Some(text) = value.as_bytes() {
        return string(call, text);
    }
    if !value.is_composite() {
        return Ok(());
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || match value {
        Value::Array(items) => items.iter().try_for_each(|item| check(call, item)),
        Value::Object(members) => members.iter().try_for_each(|(key, member)| {
            name(call, key)?;
            check(call, member)
        }),
        Value::Set(members) => {
            let Some(first) = members.iter().next() else {
                return refuse("invalid character 's' looking for beginning of value");
            };
            name(call, first)?;
            let next = if members.len() > 1 { ',' } else { '}' };
            refuse(format!("invalid character '{next}' after object key"))
        }
        _ => Ok(()),
    })
}

/// Fails unless the key is a valid member name.
fn name(call: &Call<'_>, key: &Value) -> Result<(), Failure> {
    if let Some(text) = key.as_bytes() {
        return string(call, text);
    }
    let first = match key {
        Value::Array(_) => '[',
        Value::Object(_) => '{',
        Value::Set(members) if !members.is_empty() => '{',
        Value::Set(_) => 's',
        other => Literal(other).to_string().chars().next().unwrap_or('?'),
    };
    refuse(format!(
        "invalid character '{first}' looking for beginning of object key string"
    ))
}

/// Fails at the first escape that is valid in policies but not in JSON.
fn string(call: &Call<'_>, text: &[u8]) -> Result<(), Failure> {
    call.spend(text.len() / 64)?;
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    if text.iter().all(is_plain) {
        return Ok(());
    }
    let characters = Characters::of(text);
    let mut escaped = String::new();
    for (at, character) in characters.as_str().char_indices() {
        escaped.clear();
        let is_byte = character == char::REPLACEMENT_CHARACTER
            && characters.bytes(at..at + character.len_utf8()).len() == 1;
        // Writing to a string does not fail.
        let _ = escape(character, &mut escaped);
        let mark = match is_byte {
            true => Some('x'),
            false => escaped
                .strip_prefix('\\')
                .and_then(|rest| rest.chars().next()),
        };
        if let Some(mark @ ('a' | 'v' | 'x' | 'U')) = mark {
            return refuse(format!("invalid character '{mark}' in string escape code"));
        }
    }
    Ok(())
}
