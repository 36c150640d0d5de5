//! Constraints of `io.jwt.decode_verify`.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::token::{Header, Token, failure};
use super::trusted;
use crate::Value;
use crate::builtins::keys::Algorithm;
use crate::builtins::keys::jwk::{Jwk, Material};
use crate::builtins::{Call, Failure};
use crate::value::{Number, Object};

/// Constraints on a token. An empty string is not a constraint.
#[derive(Debug)]
pub(super) struct Constraints {
    keys: Option<Arc<Vec<Jwk>>>,
    secret: Vec<u8>,
    algorithm: Vec<u8>,
    issuer: Vec<u8>,
    audience: Vec<u8>,
    /// Time at which the token has to be valid, in nanoseconds since 1970.
    time: f64,
}

impl Constraints {
    /// Parses the constraints, given as the members of the second operand.
    pub(super) fn read(call: &mut Call<'_>, members: &Object) -> Result<Self, Failure> {
        let mut read = Self {
            keys: None,
            secret: Vec::new(),
            algorithm: Vec::new(),
            issuer: Vec::new(),
            audience: Vec::new(),
            time: now(call),
        };
        for (name, value) in members {
            let name = &*name.as_lossy().unwrap_or_default();
            let place = match name {
                "cert" => {
                    let keys = string(name, value)?;
                    let Some(text) = str::from_utf8(keys).ok() else {
                        return Err(failure("cert constraint: must be UTF-8"));
                    };
                    read.keys = Some(trusted::keys(call, &text.into())?);
                    continue;
                }
                "time" => {
                    read.time = time(value)?;
                    continue;
                }
                "secret" => &mut read.secret,
                "alg" => &mut read.algorithm,
                "iss" => &mut read.issuer,
                "aud" => &mut read.audience,
                _ => {
                    return Err(Failure::Value(format!(
                        "unknown token validation constraint: {name}"
                    )));
                }
            };
            *place = string(name, value)?.to_vec();
        }
        match (&read.keys, read.secret.is_empty()) {
            (Some(_), false) => Err(failure("duplicate key constraints")),
            (None, true) => Err(failure("no key constraint")),
            _ => Ok(read),
        }
    }

    /// Whether the header of a token permits it to be verified under these constraints.
    pub(super) fn accept(&self, header: &Header) -> bool {
        let is_expected_algorithm =
            self.algorithm.is_empty() || self.algorithm == header.algorithm.as_bytes();
        !header.algorithm.is_empty() && !header.beyond_us && is_expected_algorithm
    }

    /// Whether the signature of a token is valid for the secret or one of the trusted keys.
    pub(super) fn verify(&self, header: &Header, token: &Token<'_>, signature: &[u8]) -> bool {
        let Some(algorithm) = Algorithm::verifying(&header.algorithm) else {
            return false;
        };
        let signed = token.signed();
        let Some(keys) = &self.keys else {
            return algorithm.verify_secret(&self.secret, signed.as_bytes(), signature);
        };
        trusted::candidate_keys(keys, &header.key_id, &header.algorithm).any(|key| {
            let key = match &key.material {
                Material::Secret(secret) => {
                    return algorithm.verify_secret(secret, signed.as_bytes(), signature);
                }
                Material::Public(key) => key,
                Material::Private(key) => &key.public(),
            };
            algorithm.verify_strictly(key, signed.as_bytes(), signature)
        })
    }

    /// Whether the claims satisfy the constraints.
    pub(super) fn check(&self, claims: &Object) -> Result<bool, Failure> {
        let issuer = claims.get("iss").and_then(Value::as_bytes);
        if !self.issuer.is_empty() && issuer != Some(self.issuer.as_slice()) {
            return Ok(false);
        }
        let is_valid = match claims.get("aud") {
            Some(Value::String(audience)) => audience.as_bytes() == self.audience,
            Some(Value::Array(audiences)) => {
                let mut audiences = audiences.iter();
                audiences.any(|audience| audience.as_bytes() == Some(self.audience.as_slice()))
            }
            Some(_) => false,
            None => self.audience.is_empty(),
        };
        if !is_valid {
            return Ok(false);
        }
        let now = Number::from_float(self.time / 1e9);
        let claim = |name: &str| match claims.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number)),
            Some(_) => Err(Failure::Value(format!("{name} value must be a number"))),
        };
        if let (Some(end), Some(now)) = (claim("exp")?, &now)
            && now >= end
        {
            return Ok(false);
        }
        if let (Some(start), Some(now)) = (claim("nbf")?, &now)
            && now < start
        {
            return Ok(false);
        }
        Ok(true)
    }
}

fn string<'v>(name: &str, value: &'v Value) -> Result<&'v [u8], Failure> {
    let bytes = value.as_bytes();
    bytes.ok_or_else(|| Failure::Value(format!("{name} constraint: must be a string")))
}

fn time(value: &Value) -> Result<f64, Failure> {
    let Value::Number(number) = value else {
        return Err(failure("token time constraint: must be a number"));
    };
    match number.as_f64() {
        time if time < 0.0 => Err(failure("token time constraint: must not be negative")),
        time if time.is_finite() => Ok(time),
        _ => Err(failure("token time constraint: unvalid float64")),
    }
}

/// Returns the time of the evaluation in nanoseconds.
fn now(call: &Call<'_>) -> f64 {
    let since = call.session.now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64() * 1e9
}
