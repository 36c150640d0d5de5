//! JSON Web Keys.

use super::curve::{self, Curve};
use super::jwk_members::{Kind, json_kind};
use super::{Private, Public, rsa};
use crate::Value;
use crate::builtins::json_words::explained;
use crate::builtins::pem::{decode_any, encode_url};
use crate::value::{Object, from_json, from_json_prefix};

/// Key material.
#[derive(Debug)]
pub(in crate::builtins) enum Material {
    Public(Public),
    Private(Private),
    /// Shared secret.
    Secret(Vec<u8>),
}

/// Key with its JWK members.
#[derive(Debug)]
pub(in crate::builtins) struct Jwk {
    pub(in crate::builtins) material: Material,
    /// `alg`, empty when absent.
    pub(in crate::builtins) algorithm: String,
    /// `kid`, empty when absent.
    pub(in crate::builtins) id: String,
}

/// Prefix of errors in detecting the type of a key.
const PROBE: &str = "jwk.Parse: failed to probe data: probe: failed to unmarshal data: ";

/// Prefix of errors in the numbers of a key.
const VALIDATION: &str = "jwk.Parse: key validation failed: key validation failed: ";

/// Parses a key or a key set.
///
/// # Errors
/// Returns a message when the input is not JSON or a key is invalid.
pub(in crate::builtins) fn read(text: &[u8]) -> Result<Vec<Jwk>, String> {
    let sole =
        |error: String| format!("jwk.Parse: failed to parse sole key: jwk.ParseKey: {error}");
    // As in OPA, input after a key is ignored, but not input after a set.
    let document = from_json_prefix(text)
        .map_err(|error| sole(format!("{PROBE}{}", explained(text, &error))))?;
    let keys = document.get("keys").filter(|_| from_json(text).is_ok());
    let set = "jwk.Parse: failed to unmarshal JWK set: failed to decode";
    match keys {
        None => Ok(vec![read_one(&document).map_err(sole)?]),
        Some(Value::Array(keys)) => {
            let keys = keys.iter().enumerate();
            let read = keys.map(|(at, key)| {
                read_one(key)
                    .map_err(|error| format!("{set} key #{at} in \"keys\": jwk.ParseKey: {error}"))
            });
            read.collect()
        }
        Some(other) => Err(format!("{set} \"keys\": expected '[' but got {other}")),
    }
}

fn read_one(document: &Value) -> Result<Jwk, String> {
    let cannot = |value: &Value, go_type: &str| {
        let kind = json_kind(value);
        Err(format!(
            "{PROBE}json: cannot unmarshal {kind} into Go {go_type}"
        ))
    };
    let empty = Object::new();
    let members = match document {
        Value::Object(members) => members,
        Value::Null => &empty,
        other => return cannot(other, "value of type struct"),
    };
    let named = match members.get("kty") {
        None | Some(Value::Null) => "",
        Some(Value::String(name)) => name,
        Some(other) => return cannot(other, "struct field .kty of type string"),
    };
    let Some(kind) = Kind::named(named, members.contains_key("d")) else {
        return Err(format!("invalid key type from JSON ({named})"));
    };
    kind.check(members).map_err(|error| {
        let kind = kind.name;
        let prefix = format!("failed to unmarshal JSON into key (*jwk.{kind})");
        format!("{prefix}: {prefix}: {error}")
    })?;
    let text = |name| members.get(name).and_then(Value::as_str);
    let material = match named {
        "RSA" => read_rsa(members),
        "EC" => {
            check_lengths(members)?;
            read_curve(members)
        }
        "OKP" => read_octets(members),
        _ => {
            let secret = text("k").and_then(decode_any).unwrap_or_default();
            if secret.is_empty() {
                return Err(format!("{VALIDATION}jwk.SymmetricKey: missing \"k\" field"));
            }
            Some(Material::Secret(secret))
        }
    };
    Ok(Jwk {
        material: material.ok_or("the numbers of a key do not fit")?,
        algorithm: text("alg").unwrap_or_default().to_owned(),
        id: text("kid").unwrap_or_default().to_owned(),
    })
}

/// Decodes a Base64 member.
fn bytes(members: &Object, name: &str) -> Option<Vec<u8>> {
    decode_any(members.get(name)?.as_str()?)
}

fn read_rsa(members: &Object) -> Option<Material> {
    let modulus = bytes(members, "n")?;
    let public_exponent = bytes(members, "e")?;
    let Some(exponent) = bytes(members, "d") else {
        // Numbers that are not a valid key verify nothing.
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

/// Fails when the coordinates of a curve have the wrong length.
fn check_lengths(members: &Object) -> Result<(), String> {
    let curve = members
        .get("crv")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some(size) = Curve::named(curve).map(Curve::size) else {
        return Ok(());
    };
    let kind = match members.contains_key("d") {
        true => "ECDSAPrivateKey",
        false => "ECDSAPublicKey",
    };
    for name in ["x", "y", "d"] {
        if let Some(length) = bytes(members, name).map(|bytes| bytes.len())
            && length != size
        {
            return Err(format!(
                "{VALIDATION}jwk.{kind}: invalid \"{name}\" length ({length}) for curve \"{curve}\""
            ));
        }
    }
    Ok(())
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
            let key = curve::Private::new(public, &number);
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
        let matches = *key.verifying_key().as_bytes() == *point;
        return matches.then(|| Material::Private(Private::Ed25519(Box::new(key))));
    }
    let key = ed25519_dalek::VerifyingKey::from_bytes(point.as_slice().try_into().ok()?);
    let key = key.map_or(Public::Other, |key| Public::Ed25519(Box::new(key)));
    Some(Material::Public(key))
}

/// Converts a private key to a JSON Web Key.
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
