//! Keys in DER: PKCS #1, PKCS #8, SEC 1 and the public keys of certificates.

use ::der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef};
use ::der::{Decode, Tagged};
use rsa::pkcs1;
use rsa::pkcs8::spki::SubjectPublicKeyInfoRef;
use x509_parser::asn1_rs::Tag;
use x509_parser::prelude::FromDer;
use x509_parser::x509::SubjectPublicKeyInfo;

use super::curve::{self, Curve, Signer};
use super::{Private, Public, rsa as rsa_key};

pub(in crate::builtins) const RSA: &str = "1.2.840.113549.1.1.1";
pub(in crate::builtins) const CURVES: &str = "1.2.840.10045.2.1";
pub(in crate::builtins) const ED25519: &str = "1.3.101.112";

/// Tags of the optional parts of a SEC 1 key.
const PARAMETERS: u8 = 0xa0;
const PUBLIC_KEY: u8 = 0xa1;

/// Returns the curve with this object identifier.
pub(in crate::builtins) fn curve_of(identifier: &str) -> Option<Curve> {
    match identifier {
        "1.2.840.10045.3.1.7" => Some(Curve::P256),
        "1.3.132.0.34" => Some(Curve::P384),
        "1.3.132.0.35" => Some(Curve::P521),
        _ => None,
    }
}

/// Parses the key of a `PUBLIC KEY` block.
pub(in crate::builtins) fn public(der: &[u8]) -> Option<Public> {
    let (rest, info) = SubjectPublicKeyInfo::from_der(der).ok()?;
    rest.is_empty().then(|| public_of(&info)).flatten()
}

/// Parses the key in a certificate or a `PUBLIC KEY` block.
fn public_of(info: &SubjectPublicKeyInfo<'_>) -> Option<Public> {
    // `x509-parser` does not check the tags of object identifiers.
    SubjectPublicKeyInfoRef::try_from(info.raw).ok()?;
    let bytes: &[u8] = &info.subject_public_key.data;
    match info.algorithm.algorithm.to_id_string().as_str() {
        // A key with unusable numbers can only refuse signatures.
        RSA => match rsa_public(bytes) {
            Some(key) => Some(Public::Rsa(Box::new(key))),
            None => pkcs1::RsaPublicKeyRef::try_from(bytes)
                .ok()
                .map(|_| Public::Other),
        },
        CURVES => {
            let parameters = info.algorithm.parameters.as_ref()?;
            let named = (parameters.tag() == Tag::Oid).then(|| parameters.as_oid())?;
            let named = named.ok()?;
            let key = curve::Public::read(curve_of(&named.to_id_string())?, bytes)?;
            Some(Public::Curve(Box::new(key)))
        }
        ED25519 => {
            let key = ed25519_dalek::VerifyingKey::from_bytes(bytes.try_into().ok()?);
            // A key that is not a point on the curve can only refuse signatures.
            Some(key.map_or(Public::Other, |key| Public::Ed25519(Box::new(key))))
        }
        _ => Some(Public::Other),
    }
}

/// Parses a PKCS #1 public key.
pub(in crate::builtins) fn rsa_public(bytes: &[u8]) -> Option<rsa::RsaPublicKey> {
    let key = pkcs1::RsaPublicKeyRef::try_from(bytes).ok()?;
    rsa_key::public(key.modulus.as_bytes(), key.public_exponent.as_bytes())
}

/// Parses the key of an `RSA PRIVATE KEY` block. As in OPA, the precomputed numbers at its end are
/// optional.
pub(in crate::builtins) fn rsa_private(bytes: &[u8]) -> Option<Private> {
    let numbers = numbers(bytes)?;
    let [
        modulus,
        public_exponent,
        exponent,
        first,
        second,
        precomputed @ ..,
    ] = numbers.as_slice()
    else {
        return None;
    };
    let stated = |at: usize| precomputed.get(at).cloned().unwrap_or_default();
    let key = rsa_key::Private {
        modulus: modulus.clone(),
        public_exponent: public_exponent.clone(),
        exponent: exponent.clone(),
        primes: [first.clone(), second.clone()],
        precomputed: [stated(0), stated(1), stated(2)],
    };
    Some(Private::Rsa(Box::new(key.completed()?)))
}

/// Returns the numbers that follow the version, of at most 1, at the start of a sequence.
fn numbers(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let contents = contents(AnyRef::from_der(bytes).ok()?)?;
    let (version, mut rest) = AnyRef::from_der_partial(contents).ok()?;
    (version.decode_as::<i64>().ok()? <= 1).then_some(())?;
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        let (element, after) = AnyRef::from_der_partial(rest).ok()?;
        if element.tag() != ::der::Tag::Integer {
            break;
        }
        let number = element.decode_as::<pkcs1::UintRef<'_>>().ok()?;
        numbers.push(number.as_bytes().to_vec());
        rest = after;
    }
    Some(numbers)
}

/// Parses the key of an `EC PRIVATE KEY` block.
pub(in crate::builtins) fn curve_private(bytes: &[u8]) -> Option<Private> {
    curve_private_of(None, bytes)
}

/// Parses a SEC 1 private key on a curve, which its parameters name if none is given. As in OPA, the
/// private key determines its public key, so that another one is ignored.
fn curve_private_of(curve: Option<Curve>, bytes: &[u8]) -> Option<Private> {
    let (sequence, _) = AnyRef::from_der_partial(bytes).ok()?;
    let (version, rest) = AnyRef::from_der_partial(contents(sequence)?).ok()?;
    let (key, rest) = AnyRef::from_der_partial(rest).ok()?;
    let key = key.decode_as::<&OctetStringRef>().ok()?;
    (version.decode_as::<i64>().ok()? == 1).then_some(())?;
    let (parameters, rest) = optional(PARAMETERS, rest)?;
    let (public, _) = optional(PUBLIC_KEY, rest)?;
    if let Some(public) = public {
        public.decode_as::<BitStringRef<'_>>().ok()?;
    }
    let named = || curve_of(&identifier(parameters?)?);
    let signer = Signer::of(curve.or_else(named)?, key.as_bytes())?;
    Some(Private::Curve(Box::new(signer.into())))
}

/// Reads the element within an element of this tag, if that comes next; returns the rest too. As in
/// OPA, the length of the outer element is ignored.
fn optional(tag: u8, bytes: &[u8]) -> Option<(Option<AnyRef<'_>>, &[u8])> {
    if bytes.first() != Some(&tag) {
        return Some((None, bytes));
    }
    let length_bytes = match *bytes.get(1)? {
        ..0x80 => 0,
        // The length is not known in advance, which DER does not permit.
        0x80 => return None,
        long => usize::from(long & 0x7f),
    };
    let (inner, rest) = AnyRef::from_der_partial(bytes.get(2 + length_bytes..)?).ok()?;
    Some((Some(inner), rest))
}

/// Parses the key of a `PRIVATE KEY` block. As in OPA, its version is ignored, and what follows.
pub(in crate::builtins) fn private(bytes: &[u8]) -> Option<Private> {
    let (info, _) = AnyRef::from_der_partial(bytes).ok()?;
    let (version, rest) = AnyRef::from_der_partial(contents(info)?).ok()?;
    let (algorithm, rest) = AnyRef::from_der_partial(rest).ok()?;
    let (key, _) = AnyRef::from_der_partial(rest).ok()?;
    let key = key.decode_as::<&OctetStringRef>().ok()?.as_bytes();
    version.decode_as::<i64>().ok()?;
    let (id, parameters) = AnyRef::from_der_partial(contents(algorithm)?).ok()?;
    match identifier(id)?.as_str() {
        RSA => rsa_private(key),
        CURVES => {
            let named = AnyRef::from_der_partial(parameters).ok();
            let named = named.and_then(|(named, _)| identifier(named));
            let curve = match named {
                Some(named) => Some(curve_of(&named)?),
                None => None,
            };
            curve_private_of(curve, key)
        }
        ED25519 if parameters.is_empty() => {
            // The seed is an octet string within an octet string.
            let seed = key.strip_prefix(&[4, 32])?;
            let key = ed25519_dalek::SigningKey::from_bytes(seed.try_into().ok()?);
            Some(Private::Ed25519(Box::new(key)))
        }
        _ => None,
    }
}

/// Returns the contents of a sequence.
fn contents(element: AnyRef<'_>) -> Option<&[u8]> {
    (element.tag() == ::der::Tag::Sequence).then(|| element.value())
}

/// Returns an object identifier in dotted notation.
fn identifier(element: AnyRef<'_>) -> Option<String> {
    let identifier = element.decode_as::<ObjectIdentifier>().ok()?;
    Some(identifier.to_string())
}
