//! Tokens that other code creates and verifies, such as those that sign bundles.

use super::token::{Token, object};
use crate::builtins::Failure;
use crate::builtins::crypto::read::public_key;
use crate::builtins::keys::{Algorithm, Private, Public, der};
use crate::builtins::pem::{encode_url, next_block};
use crate::value::Object;

/// Returns the header and the claims of a token without verifying it.
///
/// # Errors
/// When the string is not a token whose header and claims are JSON objects.
pub fn unverified(token: &str) -> Result<(Object, Object), String> {
    let read = |token: &Token<'_>| {
        let header = token.header()?;
        let claims = token.payload()?;
        Ok((header, object(&claims).map_err(Failure::Value)?))
    };
    let token = Token::split(token).and_then(|token| read(&token));
    token.map_err(described)
}

/// Verifies the signature of a token with a key: a shared secret for the algorithms `HS…`, or else
/// a public key or certificate in PEM. The token must name the same algorithm.
///
/// # Errors
/// When the signature is invalid, or when the algorithm or the key is unusable.
pub fn verify(token: &str, algorithm: &str, key: &str) -> Result<(), String> {
    let (header, _) = unverified(token)?;
    let named = header.get("alg").and_then(crate::Value::as_str);
    if named != Some(algorithm) {
        let named = named.unwrap_or_default();
        return Err(format!(
            "the token is signed by `{named}`, not `{algorithm}`"
        ));
    }
    if header.contains_key("crit") {
        return Err("the token asks for what is not understood (`crit`)".to_owned());
    }
    let method = Algorithm::named(algorithm);
    let method = method.ok_or_else(|| format!("the algorithm `{algorithm}` is not known"))?;
    let token = Token::split(token).map_err(described)?;
    let signature = token.signature()?;
    let signed = token.signed();
    let right = match method {
        Algorithm::Hmac(_) => method.verify_secret(key.as_bytes(), signed.as_bytes(), &signature),
        _ => method.verify_strictly(&public(key)?, signed.as_bytes(), &signature),
    };
    match right {
        true => Ok(()),
        false => Err("the signature is not right".to_owned()),
    }
}

/// Signs a header and claims, both in JSON, and returns the token. The key is a shared secret for
/// the algorithms `HS…`, or else a private key in PEM. The header has to name the algorithm.
///
/// # Errors
/// When the algorithm or the key is unusable. The message does not contain the key.
pub fn sign(header: &str, claims: &str, algorithm: &str, key: &str) -> Result<String, String> {
    let method = Algorithm::named(algorithm);
    let method = method.ok_or_else(|| format!("the algorithm `{algorithm}` is not known"))?;
    let [header, claims] = [header, claims].map(|part| encode_url(part.as_bytes()));
    let signed = format!("{header}.{claims}");
    let signature = match method {
        Algorithm::Hmac(_) => method.authenticate(key.as_bytes(), signed.as_bytes()),
        _ => method.sign(&private(key)?, signed.as_bytes()),
    };
    let signature = signature.ok_or_else(|| format!("the key cannot sign by `{algorithm}`"))?;
    Ok(format!("{signed}.{}", encode_url(&signature)))
}

/// Parses the private key in the first PEM block.
fn private(text: &str) -> Result<Private, String> {
    let (block, _) = next_block(text).ok_or("the key is not in PEM")?;
    let key = match block.label.as_str() {
        "RSA PRIVATE KEY" => der::rsa_private(&block.bytes),
        "PRIVATE KEY" => der::private(&block.bytes),
        "EC PRIVATE KEY" => der::curve_private(&block.bytes),
        label => return Err(format!("the key is a `{label}`, not a private key")),
    };
    key.ok_or_else(|| format!("the {} is malformed", block.label.to_lowercase()))
}

/// Parses the public key in the first PEM block.
fn public(text: &str) -> Result<Public, String> {
    let (block, _) = next_block(text).ok_or("the key is not in PEM")?;
    let key = match block.label.as_str() {
        "PUBLIC KEY" => der::public(&block.bytes),
        "RSA PUBLIC KEY" => der::rsa_public(&block.bytes).map(|key| Public::Rsa(Box::new(key))),
        "CERTIFICATE" => public_key(&block.bytes).map(|(key, _)| key),
        label => {
            return Err(format!(
                "the key is a `{label}`, not a public key or certificate"
            ));
        }
    };
    key.ok_or_else(|| format!("the {} is malformed", block.label.to_lowercase()))
}

fn described(failure: Failure) -> String {
    match failure {
        Failure::Value(message) => message,
        other => format!("{other:?}"),
    }
}
