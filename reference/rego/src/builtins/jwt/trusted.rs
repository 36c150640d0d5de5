//! Keys that a caller trusts: a certificate, a public key or a JSON Web Key set.

use std::sync::Arc;

use crate::builtins::crypto::read::public_key;
use crate::builtins::keys::jwk::{self, Jwk, Material};
use crate::builtins::keys::{Algorithm, der};
use crate::builtins::pem::next_block;
use crate::builtins::{Call, Failure, Prepared};
use crate::value::Text;

impl Prepared for Vec<Jwk> {}

/// Parses trusted keys. They are cached, as many tokens are verified with the same ones.
pub(super) fn keys(call: &mut Call<'_>, text: &Text) -> Result<Arc<Vec<Jwk>>, Failure> {
    call.prepared(crate::builtins::caches::KEYS, text, |_| {
        read(text).map_err(Failure::Value)
    })
}

/// Prefix of errors in a key or a key set.
const JWK: &str = "failed to parse a JWK key (set): jwk.ParseString: failed to parse string";

fn read(text: &str) -> Result<Vec<Jwk>, String> {
    let Some((block, rest)) = next_block(text) else {
        let mut keys = jwk::read(text.as_bytes()).map_err(|error| format!("{JWK}: {error}"))?;
        // A key with an unknown algorithm does not invalidate the others.
        keys.retain(|key| key.algorithm.is_empty() || Algorithm::named(&key.algorithm).is_some());
        return Ok(keys);
    };
    if !rest.is_empty() {
        return Err("extra data after a PEM certificate block".to_owned());
    }
    let key = match block.label.as_str() {
        "CERTIFICATE" => match public_key(&block.bytes) {
            Some((key, [])) => key,
            _ => {
                return Err(
                    "failed to parse a PEM certificate: x509: malformed certificate".to_owned(),
                );
            }
        },
        "PUBLIC KEY" => der::public(&block.bytes).ok_or(
            "failed to parse a PEM public key: asn1: structure error: the key is malformed",
        )?,
        _ => return Err("failed to extract a Key from the PEM certificate".to_owned()),
    };
    Ok(vec![Jwk {
        material: Material::Public(key),
        algorithm: String::new(),
        id: String::new(),
    }])
}

/// Returns the candidate keys for a token: the one that its header names, or else all that are not
/// restricted to another algorithm.
pub(super) fn candidate_keys<'k>(
    keys: &'k [Jwk],
    key_id: &'k str,
    algorithm: &'k str,
) -> Box<dyn Iterator<Item = &'k Jwk> + 'k> {
    let named = keys
        .iter()
        .find(|key| !key_id.is_empty() && key.id == key_id);
    match named {
        Some(key) => Box::new(std::iter::once(key)),
        None => Box::new(
            keys.iter()
                .filter(move |key| key.algorithm.is_empty() || key.algorithm == algorithm),
        ),
    }
}
