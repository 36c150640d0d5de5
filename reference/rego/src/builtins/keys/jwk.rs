//! JSON Web Keys.

use super::curve::{self, Curve};
use super::{Private, Public, rsa};
use crate::Value;
use crate::builtins::armor::{decode_any, encode_url};
use crate::value::{Object, from_json_prefix};

/// What a key can be.
#[derive(Debug)]
pub(in crate::builtins) enum Material {
    Public(Public),
    Private(Private),
    /// Shared between those who sign and those who verify.
    Secret(Vec<u8>),
}

/// A key with what its set says about it.
#[derive(Debug)]
pub(in crate::builtins) struct Jwk {
    pub(in crate::builtins) material: Material,
    /// `alg`, empty when absent.
    pub(in crate::builtins) algorithm: String,
    /// `kid`, empty when absent.
    pub(in crate::builtins) id: String,
}

/// What keys can be for, also beyond signatures.
const ALGORITHMS: [&str; 35] = [
    "A128GCMKW",
    "A128KW",
    "A192GCMKW",
    "A192KW",
    "A256GCMKW",
    "A256KW",
    "dir",
    "ECDH-ES",
    "ECDH-ES+A128KW",
    "ECDH-ES+A192KW",
    "ECDH-ES+A256KW",
    "Ed25519",
    "EdDSA",
    "ES256",
    "ES256K",
    "ES384",
    "ES512",
    "HS256",
    "HS384",
    "HS512",
    "none",
    "PBES2-HS256+A128KW",
    "PBES2-HS384+A192KW",
    "PBES2-HS512+A256KW",
    "PS256",
    "PS384",
    "PS512",
    "RS256",
    "RS384",
    "RS512",
    "RSA-OAEP",
    "RSA-OAEP-256",
    "RSA-OAEP-384",
    "RSA-OAEP-512",
    "RSA1_5",
];

/// Reads a key or a set of keys.
///
/// # Errors
/// With a message when the text is no JSON or a key in it is none.
pub(in crate::builtins) fn read(text: &[u8]) -> Result<Vec<Jwk>, String> {
    // As in OPA, what stands behind the first value is not looked at.
    let document = from_json_prefix(text).map_err(|wrong| wrong.to_string())?;
    let Some(members) = document.as_object() else {
        return Err("a key is an object".to_owned());
    };
    match members.get("keys") {
        None => Ok(vec![read_one(members)?]),
        Some(Value::Array(keys)) => keys
            .iter()
            .map(|key| match key {
                Value::Object(members) => read_one(members),
                _ => Err("a key is an object".to_owned()),
            })
            .collect(),
        Some(_) => Err("\"keys\" is not an array".to_owned()),
    }
}

fn read_one(members: &Object) -> Result<Jwk, String> {
    let text = |name| members.get(name).and_then(Value::as_str);
    let algorithm = text("alg").unwrap_or_default();
    if !algorithm.is_empty() && !ALGORITHMS.contains(&algorithm) {
        return Err(format!("invalid algorithm ({algorithm})"));
    }
    let material = match text("kty") {
        Some("RSA") => read_rsa(members),
        Some("EC") => read_curve(members),
        Some("OKP") => read_octets(members),
        Some("oct") => {
            let secret = text("k").and_then(decode_any);
            let secret = secret.filter(|secret| !secret.is_empty());
            secret.map(Material::Secret)
        }
        Some(other) => return Err(format!("invalid key type from JSON ({other})")),
        None => return Err("no \"kty\" field".to_owned()),
    };
    Ok(Jwk {
        material: material.ok_or("the numbers of a key do not fit")?,
        algorithm: algorithm.to_owned(),
        id: text("kid").unwrap_or_default().to_owned(),
    })
}

/// A member in Base64.
fn bytes(members: &Object, name: &str) -> Option<Vec<u8>> {
    decode_any(members.get(name)?.as_str()?)
}

fn read_rsa(members: &Object) -> Option<Material> {
    let modulus = bytes(members, "n")?;
    let public_exponent = bytes(members, "e")?;
    let Some(exponent) = bytes(members, "d") else {
        // Numbers that are no key verify nothing.
        let key = rsa::public(&modulus, &public_exponent);
        let key = key.map_or(Public::Other, |key| Public::Rsa(Box::new(key)));
        return Some(Material::Public(key));
    };
    let optional = |name| bytes(members, name).unwrap_or_default();
    let key = rsa::Private {
        modulus,
        public_exponent,
        exponent,
        primes: [bytes(members, "p")?, bytes(members, "q")?],
        precomputed: ["dp", "dq", "qi"].map(optional),
    };
    Some(Material::Private(Private::Rsa(Box::new(key))))
}

fn read_curve(members: &Object) -> Option<Material> {
    let curve = Curve::named(members.get("crv")?.as_str()?)?;
    let (x, y) = (bytes(members, "x")?, bytes(members, "y")?);
    if [&x, &y].iter().any(|number| number.len() != curve.size()) {
        return None;
    }
    let public = curve::Public::at(curve, &x, &y)?;
    match bytes(members, "d") {
        None => Some(Material::Public(Public::Curve(Box::new(public)))),
        Some(number) if number.len() != curve.size() => None,
        Some(number) => {
            let key = curve::Private::of(curve, &number)?;
            Some(Material::Private(Private::Curve(Box::new(key))))
        }
    }
}

fn read_octets(members: &Object) -> Option<Material> {
    let point = bytes(members, "x")?;
    match members.get("crv")?.as_str()? {
        "Ed25519" => {}
        "X25519" => return Some(Material::Public(Public::Other)),
        _ => return None,
    }
    if let Some(seed) = bytes(members, "d") {
        let key = ed25519_dalek::SigningKey::from_bytes(seed.as_slice().try_into().ok()?);
        let fits = *key.verifying_key().as_bytes() == *point;
        return fits.then(|| Material::Private(Private::Ed25519(Box::new(key))));
    }
    let key = ed25519_dalek::VerifyingKey::from_bytes(point.as_slice().try_into().ok()?);
    let key = key.map_or(Public::Other, |key| Public::Ed25519(Box::new(key)));
    Some(Material::Public(key))
}

/// A private key as a JSON Web Key.
pub(in crate::builtins) fn write(key: &Private) -> Value {
    let number = |bytes: &[u8]| {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        encode_url(bytes.get(zeros..).unwrap_or_default())
    };
    let members = match key {
        Private::Rsa(key) => {
            let [p, q] = &key.primes;
            let [dp, dq, qi] = &key.precomputed;
            vec![
                ("kty", "RSA".to_owned()),
                ("n", number(&key.modulus)),
                ("e", number(&key.public_exponent)),
                ("d", number(&key.exponent)),
                ("p", number(p)),
                ("q", number(q)),
                ("dp", number(dp)),
                ("dq", number(dq)),
                ("qi", number(qi)),
            ]
        }
        Private::Curve(key) => {
            let public = key.public();
            let (x, y) = public.coordinates();
            vec![
                ("kty", "EC".to_owned()),
                ("crv", public.curve().name().to_owned()),
                ("x", encode_url(&x)),
                ("y", encode_url(&y)),
                ("d", encode_url(&key.number())),
            ]
        }
        Private::Ed25519(key) => vec![
            ("kty", "OKP".to_owned()),
            ("crv", "Ed25519".to_owned()),
            ("x", encode_url(key.verifying_key().as_bytes())),
            ("d", encode_url(key.as_bytes())),
        ],
    };
    Value::object(
        members
            .into_iter()
            .map(|(name, text)| (name, Value::from(text))),
    )
}
