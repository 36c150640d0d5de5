//! Keys in DER: PKCS #1, PKCS #8, SEC 1 and public keys with their algorithm.
//!
//! As in Go, elements that follow the last one of a known structure are ignored, and an optional one
//! is absent if the next element has another tag.

use super::curve::{Curve, Signer};
use super::identifiers::{CURVES, ED25519, RSA, curve_of};
use super::public_key::{AlgorithmIdentifier, PublicKey, rsa_numbers};
use super::reader::{BITS, IDENTIFIER, INTEGER, OCTETS, Reader, SEQUENCE, dotted, identifier};
use super::{Private, Public, rsa as rsa_key};

/// Tags of the optional parts of a SEC 1 key.
const PARAMETERS: u8 = 0xa0;
const PUBLIC_KEY: u8 = 0xa1;

/// Parses the key of a `PUBLIC KEY` block.
pub(in crate::builtins) fn public(der: &[u8]) -> Option<Public> {
    Reader::enter_sequence(der)?;
    PublicKey::read(der).map(|info| info.key)
}

/// Parses a PKCS #1 public key.
pub(in crate::builtins) fn rsa_public(der: &[u8]) -> Option<rsa::RsaPublicKey> {
    Reader::enter_sequence(der)?;
    let (modulus, exponent) = rsa_numbers(der)?;
    rsa_key::public(modulus, exponent)
}

/// Parses the key of an `RSA PRIVATE KEY` block, whose precomputed numbers are optional.
pub(in crate::builtins) fn rsa_private(der: &[u8]) -> Option<Private> {
    let mut parts = Reader::enter_sequence(der)?;
    (parts.small_integer(INTEGER)? <= 1).then_some(())?;
    let key = rsa_key::Private {
        modulus: number(&mut parts)?,
        public_exponent: number(&mut parts)?,
        exponent: number(&mut parts)?,
        primes: [number(&mut parts)?, number(&mut parts)?],
        precomputed: [
            optional_number(&mut parts)?,
            optional_number(&mut parts)?,
            optional_number(&mut parts)?,
        ],
    };
    // A list of further primes, which has to be empty.
    if parts.has(SEQUENCE)? {
        parts.nested(SEQUENCE)?.is_empty().then_some(())?;
    }
    Some(Private::Rsa(Box::new(key.completed()?)))
}

/// Reads a positive number, without leading zeros.
fn number(parts: &mut Reader<'_>) -> Option<Vec<u8>> {
    let bytes = parts.positive_integer()?;
    Some(bytes.strip_prefix(&[0]).unwrap_or(bytes).to_vec())
}

/// Reads a positive number, if one comes next; it is empty otherwise.
fn optional_number(parts: &mut Reader<'_>) -> Option<Vec<u8>> {
    match parts.has(INTEGER)? {
        true => number(parts),
        false => Some(Vec::new()),
    }
}

/// Parses the key of an `EC PRIVATE KEY` block.
pub(in crate::builtins) fn curve_private(der: &[u8]) -> Option<Private> {
    curve_private_of(None, der)
}

/// Parses a SEC 1 private key on a curve, which its parameters name if none is given. The private
/// key determines its public key, so that another one is ignored.
fn curve_private_of(curve: Option<Curve>, der: &[u8]) -> Option<Private> {
    let mut parts = Reader::new(der).nested(SEQUENCE)?;
    (parts.small_integer(INTEGER)? == 1).then_some(())?;
    let key = parts.read(OCTETS)?;
    let named = match parts.enter(PARAMETERS, IDENTIFIER)? {
        true => Some(dotted(&identifier(parts.identifier()?)?)),
        false => None,
    };
    if parts.enter(PUBLIC_KEY, BITS)? {
        parts.bit_string()?;
    }
    let curve = curve.or_else(|| curve_of(&named?))?;
    Some(Private::Curve(Box::new(Signer::of(curve, key)?.into())))
}

/// Parses the key of a `PRIVATE KEY` block, of any version.
pub(in crate::builtins) fn private(der: &[u8]) -> Option<Private> {
    let mut parts = Reader::new(der).nested(SEQUENCE)?;
    parts.small_integer(INTEGER)?;
    let algorithm = AlgorithmIdentifier::read(parts.read(SEQUENCE)?)?;
    let key = parts.read(OCTETS)?;
    match algorithm.id.as_str() {
        RSA => rsa_private(key),
        CURVES => {
            let named = Reader::new(algorithm.parameters).identifier();
            let curve = match named {
                Some(named) => Some(curve_of(&dotted(&identifier(named)?))?),
                None => None,
            };
            curve_private_of(curve, key)
        }
        ED25519 if algorithm.parameters.is_empty() => {
            // The seed is an octet string within an octet string.
            let seed = Reader::new(key).read(OCTETS)?;
            let key = ed25519_dalek::SigningKey::from_bytes(seed.try_into().ok()?);
            Some(Private::Ed25519(Box::new(key)))
        }
        _ => None,
    }
}
