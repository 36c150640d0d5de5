//! `crypto.parse_private_keys`, `crypto.x509.parse_rsa_private_key` and
//! `crypto.x509.parse_keypair`.

use num_bigint::{BigInt, Sign};

use super::certificate::Certificate;
use super::read::BEGIN;
use super::scalar_value::bytes;
use crate::Value;
use crate::builtins::keys::{Private, der, jwk};
use crate::builtins::operand::{answer, characters, refuse, text};
use crate::builtins::pem::{decode, next_block};
use crate::builtins::{Call, Failure};
use crate::value::Number;

pub(super) fn parse_private_keys(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    // Bytes that are not UTF-8 are not part of a block.
    let characters = characters(operands, 1)?;
    let text = characters.as_str();
    if text.is_empty() {
        return answer(Value::Null);
    }
    answer(keys(text)?.iter().map(value).collect::<Vec<_>>())
}

pub(super) fn parse_rsa_private_key(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let text = text(operands, 1)?;
    if text.is_empty() {
        return refuse("input PEM data was empty");
    }
    if !text.starts_with(BEGIN) {
        decode(text).map_err(Failure::Value)?;
    }
    match keys(text)?.first() {
        Some(key) => answer(jwk::write(key)),
        None => answer(Value::Null),
    }
}

/// Parses the keys in PEM, or in Base64 of PEM. Other kinds of blocks are skipped.
fn keys(text: &str) -> Result<Vec<Private>, Failure> {
    let decoded = decode(text)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let mut rest = decoded.as_deref().unwrap_or(text);
    let mut keys = Vec::new();
    while let Some((block, tail)) = next_block(rest) {
        rest = tail;
        let key = match block.label.as_str() {
            "RSA PRIVATE KEY" => der::rsa_private(&block.bytes),
            "PRIVATE KEY" => der::private(&block.bytes),
            "EC PRIVATE KEY" => der::curve_private(&block.bytes),
            _ => continue,
        };
        match key {
            Some(key) => keys.push(key),
            None => return refuse("x509: failed to parse private key"),
        }
    }
    Ok(keys)
}

fn number(bytes: &[u8]) -> Value {
    Value::from(Number::from(BigInt::from_bytes_be(Sign::Plus, bytes)))
}

fn value(key: &Private) -> Value {
    match key {
        Private::Rsa(key) => {
            let [first, second, inverse] = &key.precomputed;
            let precomputed = Value::object([
                ("Dp", number(first)),
                ("Dq", number(second)),
                ("Qinv", number(inverse)),
                ("CRTValues", Value::from(Vec::new())),
            ]);
            Value::object([
                ("N", number(&key.modulus)),
                ("E", number(&key.public_exponent)),
                ("D", number(&key.exponent)),
                (
                    "Primes",
                    Value::from(key.primes.each_ref().map(|prime| number(prime)).to_vec()),
                ),
                ("Precomputed", precomputed),
            ])
        }
        Private::Curve(key) => {
            let (x, y) = key.public().coordinates();
            Value::object([
                ("Curve", Value::object::<&str>([])),
                ("X", number(&x)),
                ("Y", number(&y)),
                ("D", number(&key.number())),
            ])
        }
        Private::Ed25519(key) => bytes(&key.to_keypair_bytes()),
    }
}

pub(super) fn parse_keypair(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let certificates = text(operands, 1)?;
    let key = text(operands.get(1..).unwrap_or_default(), 1)?;
    let chain = blocks(certificates, "CERTIFICATE")?;
    let keys = blocks(key, "PRIVATE KEY")?;
    let ders: Vec<Vec<u8>> = named(&chain, |label| label == "CERTIFICATE").collect();
    let Some(first) = ders.first() else {
        return missing_block(&chain, "certificate", "\"CERTIFICATE\" PEM block");
    };
    let Some(key) = named(&keys, |label| label.ends_with("PRIVATE KEY")).next() else {
        return missing_block(
            &keys,
            "key",
            "PEM block with type ending in \"PRIVATE KEY\"",
        );
    };
    let Some((leaf, [])) = Certificate::read(first) else {
        return refuse("x509: malformed certificate");
    };
    let read = [der::rsa_private, der::private, der::curve_private];
    let Some(key) = read.iter().find_map(|read| read(&key)) else {
        return refuse("tls: failed to parse private key");
    };
    if let Err(message) = leaf.fields.key.numbers.check_pair(&key) {
        return refuse(message);
    }
    answer(Value::object([
        (
            "Certificate",
            Value::from(ders.iter().map(|der| bytes(der)).collect::<Vec<_>>()),
        ),
        ("PrivateKey", value(&key)),
        ("Leaf", leaf.value(false)),
        ("OCSPStaple", Value::Null),
        ("SignedCertificateTimestamps", Value::Null),
        ("SupportedSignatureAlgorithms", Value::Null),
    ]))
}

/// Returns the contents of the blocks whose label satisfies the predicate.
fn named<'b>(
    blocks: &'b [(String, Vec<u8>)],
    is_wanted: impl Fn(&str) -> bool + 'b,
) -> impl Iterator<Item = Vec<u8>> + 'b {
    let matching = blocks.iter().filter(move |(label, _)| is_wanted(label));
    matching.map(|(_, der)| der.clone())
}

/// Refuses an input without a block of the expected kind.
fn missing_block<T>(
    blocks: &[(String, Vec<u8>)],
    input: &str,
    expected: &str,
) -> Result<T, Failure> {
    if blocks.is_empty() {
        return refuse(format!("tls: failed to find any PEM data in {input} input"));
    }
    let labels: Vec<&str> = blocks.iter().map(|(label, _)| label.as_str()).collect();
    let labels = labels.join(" ");
    refuse(format!(
        "tls: failed to find {expected} in {input} input after skipping PEM blocks of the following types: [{labels}]"
    ))
}

/// Parses the blocks of PEM or of Base64 of PEM; for Base64 of DER, returns a single block.
fn blocks(text: &str, label: &str) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let decoded;
    let mut rest = match text.starts_with("-----BEGIN ") {
        true => text,
        false => {
            decoded = decode(text).map_err(Failure::Value)?;
            match std::str::from_utf8(&decoded) {
                Ok(text) if text.starts_with(BEGIN) => text,
                _ => return Ok(vec![(label.to_owned(), decoded)]),
            }
        }
    };
    let mut blocks = Vec::new();
    while let Some((block, tail)) = next_block(rest) {
        blocks.push((block.label, block.bytes));
        rest = tail;
    }
    Ok(blocks)
}
