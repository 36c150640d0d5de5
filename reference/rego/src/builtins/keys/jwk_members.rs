//! Members of JSON Web Keys.

use super::curve::Curve;
use crate::Value;
use crate::builtins::pem::decode_any;
use crate::value::{Literal, Object};

/// Known values of the member `alg`, including algorithms that do not sign.
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

/// Key type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Name of the key type in errors.
    pub(super) name: &'static str,
    /// Names of the members whose values are Base64.
    bytes: &'static [&'static str],
    /// Names of the required members.
    required: &'static [&'static str],
}

impl Kind {
    /// Returns the key type with this name; it is private if the key has the member `d`.
    pub(super) fn named(name: &str, is_private: bool) -> Option<Self> {
        const RSA: &[&str] = &["d", "dp", "dq", "e", "n", "p", "q", "qi"];
        let (name, bytes, required): (_, &[&str], &[&str]) = match (name, is_private) {
            ("RSA", false) => ("rsaPublicKey", &["e", "n"], &["e", "n"]),
            ("RSA", true) => ("rsaPrivateKey", RSA, &["d", "e", "n"]),
            ("EC", false) => ("ecdsaPublicKey", &["x", "y"], &["crv", "x", "y"]),
            ("EC", true) => ("ecdsaPrivateKey", &["d", "x", "y"], &["crv", "d", "x", "y"]),
            ("OKP", false) => ("okpPublicKey", &["x"], &["crv", "x"]),
            ("OKP", true) => ("okpPrivateKey", &["d", "x"], &["crv", "d", "x"]),
            ("oct", _) => ("symmetricKey", &["k"], &["k"]),
            _ => return None,
        };
        Some(Self {
            name,
            bytes,
            required,
        })
    }

    /// Fails unless all known members have the right types and none is missing.
    pub(super) fn check(&self, members: &Object) -> Result<(), String> {
        for (name, value) in members {
            let Some(name) = name.as_str() else {
                continue;
            };
            self.check_member(name, value)
                .map_err(|error| format!("failed to decode value for key {name}: {error}"))?;
        }
        let mut required = self.required.iter();
        match required.find(|name| !members.contains_key(name)) {
            Some(name) => Err(format!("required field {name} is missing")),
            None => Ok(()),
        }
    }

    fn check_member(&self, name: &str, value: &Value) -> Result<(), String> {
        let cannot = |value: &Value, go_type: &str| {
            let kind = json_kind(value);
            Err(format!(
                "json: cannot unmarshal {kind} into Go value of type {go_type}"
            ))
        };
        let text = |value: &Value| {
            let read = cannot(value, "string");
            read.map_err(|error: String| format!("error reading next value: {error}"))
        };
        match (name, value) {
            ("alg", Value::Null) => {
                Err("invalid key value: \"\": invalid key algorithm".to_owned())
            }
            ("alg", Value::String(name)) if !ALGORITHMS.contains(&&**name) => {
                let name = Literal(value);
                Err(format!("invalid key value: {name}: invalid key algorithm"))
            }
            (_, Value::Null) => Ok(()),
            ("alg", Value::String(_)) => Ok(()),
            ("alg", other) => cannot(other, "string"),
            ("key_ops", Value::Array(items)) => {
                let mut items = items.iter();
                match items.find(|item| !matches!(item, Value::String(_) | Value::Null)) {
                    Some(item) => cannot(item, "jwk.KeyOperation"),
                    None => Ok(()),
                }
            }
            ("key_ops", other) => cannot(other, "jwk.KeyOperationList"),
            ("x5c", Value::Array(_)) => Ok(()),
            ("x5c", _) => {
                Err("failed to unmarshal certificate chain: expected JSON array".to_owned())
            }
            ("kid" | "use" | "x5t" | "x5t#S256" | "x5u", Value::String(_)) => Ok(()),
            ("kid" | "use" | "x5t" | "x5t#S256" | "x5u", other) => text(other),
            ("crv", Value::String(curve)) if self.name.starts_with("ecdsa") => {
                match Curve::named(curve) {
                    Some(_) => Ok(()),
                    None => Err(format!(
                        "unknown EllipticCurveAlgorithm: {}",
                        Literal(value)
                    )),
                }
            }
            (name, Value::String(encoded)) if self.bytes.contains(&name) => {
                match decode_any(encoded) {
                    Some(_) => Ok(()),
                    None => Err("expected base64 encoded []byte (string)".to_owned()),
                }
            }
            (name, other) if self.bytes.contains(&name) => text(other),
            _ => Ok(()),
        }
    }
}

/// Returns the name of a value's type that clients see.
pub(super) fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        other => other.kind(),
    }
}
