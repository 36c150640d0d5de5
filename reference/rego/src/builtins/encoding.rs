//! `base64.*`, `base64url.*`, `hex.*`, `urlquery.*`

use std::collections::BTreeMap;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, PAD};
use bstr::ByteSlice;

use super::expected::{CallResult, Items, mismatch};
use super::operand::{answer, any, bytes, object, refuse};
use super::pem;
use super::{Call, Cost, Failure, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("base64.decode", Cost::Linear, |_, operands| {
        decoded(pem::decode(bytes(operands, 1)?))
    }),
    ("base64.encode", Cost::Linear, |_, operands| {
        answer(pem::encode(bytes(operands, 1)?))
    }),
    ("base64.is_valid", Cost::Linear, |_, operands| {
        let text = any(operands, 1).as_str();
        answer(text.is_some_and(|text| pem::decode(text).is_ok()))
    }),
    ("base64url.decode", Cost::Linear, |_, operands| {
        decoded(pem::decode_url(bytes(operands, 1)?))
    }),
    ("base64url.encode", Cost::Linear, |_, operands| {
        encode(&URL_SAFE, operands)
    }),
    ("base64url.encode_no_pad", Cost::Linear, |_, operands| {
        encode(&URL_SAFE_NO_PAD, operands)
    }),
    ("hex.decode", Cost::Linear, decode_hex),
    ("hex.encode", Cost::Linear, |_, operands| {
        answer(hex(bytes(operands, 1)?))
    }),
    ("urlquery.decode", Cost::Linear, |_, operands| {
        answer(Value::string(&unescaped(bytes(operands, 1)?)?))
    }),
    ("urlquery.decode_object", Cost::Stepping, decode_object),
    ("urlquery.encode", Cost::Linear, |_, operands| {
        answer(escaped(bytes(operands, 1)?))
    }),
    ("urlquery.encode_object", Cost::Stepping, encode_object),
];

fn encode(engine: &GeneralPurpose, operands: &[Value]) -> CallResult {
    answer(engine.encode(bytes(operands, 1)?))
}

const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    PAD.with_decode_allow_trailing_bits(true),
);
const URL_SAFE_NO_PAD: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD);

fn decoded(decoded: Result<Vec<u8>, String>) -> CallResult {
    match decoded {
        Ok(bytes) => answer(Value::string(&bytes)),
        Err(reason) => refuse(reason),
    }
}

/// Formats bytes in lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn decode_hex(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let text = bytes(operands, 1)?;
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    if let Some(bad) = text.iter().copied().find(|byte| digit(*byte).is_none()) {
        let rendered = match char::from(bad) {
            '\0'..'\u{20}' | '\u{7f}'..='\u{a0}' | '\u{ad}' => String::new(),
            visible => format!(" '{visible}'"),
        };
        return refuse(format!("encoding/hex: invalid byte: U+{bad:04X}{rendered}"));
    }
    if text.len() % 2 == 1 {
        return refuse("encoding/hex: odd length hex string");
    }
    let pairs = text.chunks_exact(2);
    let bytes = pairs.filter_map(|pair| match pair {
        [high, low] => Some(digit(*high)? * 16 + digit(*low)?),
        _ => None,
    });
    answer(Value::string(&bytes.collect::<Vec<u8>>()))
}

/// Escapes a string for a query: a plus for a space, percent-escapes for everything but letters,
/// digits and four other characters.
fn escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match *byte {
            b' ' => out.push('+'),
            b'-' | b'_' | b'.' | b'~' => out.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(*byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn unescaped(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = bytes.get(at..at + 2);
                let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
                let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
                match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    Some(code) => out.push(code),
                    None => {
                        let end = (at + 2).min(bytes.len());
                        let bad = bytes.get(at - 1..end).unwrap_or_default();
                        return refuse(format!(
                            "invalid URL escape {}",
                            crate::value::quoted_bytes(bad)
                        ));
                    }
                }
                at += 2;
            }
            other => out.push(*other),
        }
    }
    Ok(out)
}

fn encode_object(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    const WRONG: &str = "operand 1 values must be string, array[string], or set[string]";
    let mut pairs = Vec::new();
    for (name, value) in object(operands, 1)? {
        let name = match name.as_bytes() {
            Some(name) => escaped(name),
            None => escaped(call.serialize(name)?.as_bytes()),
        };
        match (value.as_bytes(), Items::of(value)) {
            (Some(text), _) => {
                call.make((name.len() + 3 * text.len()) / 16)?;
                pairs.push(format!("{name}={}", escaped(text)));
            }
            (_, Some(items)) => {
                for item in items {
                    let Some(text) = item.as_bytes() else {
                        return mismatch(WRONG);
                    };
                    call.make((name.len() + 3 * text.len()) / 16)?;
                    pairs.push(format!("{name}={}", escaped(text)));
                }
            }
            _ => return mismatch(WRONG),
        }
    }
    answer(pairs.join("&"))
}

fn decode_object(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut members: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    let pairs = bytes(operands, 1)?.split(|byte| *byte == b'&');
    for pair in pairs.filter(|pair| !pair.is_empty()) {
        if pair.contains(&b';') {
            return refuse("invalid semicolon separator in query");
        }
        let (name, value) = pair.split_once_str("=").unwrap_or((pair, b""));
        let name = Value::string(&unescaped(name)?);
        let values = members.entry(name).or_default();
        values.push(Value::string(&unescaped(value)?));
    }
    answer(Value::object(
        members
            .into_iter()
            .map(|(name, values)| (name, Value::from(values))),
    ))
}
