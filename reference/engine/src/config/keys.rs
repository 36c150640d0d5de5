//! Section `keys`.

use serde::Deserialize;

use super::secret::Secret;

/// Default algorithm of a key.
const DEFAULT_ALGORITHM: &str = "RS256";

/// Signature algorithms that keys may name.
const ALGORITHMS: [&str; 12] = [
    "ES256", "ES384", "ES512", "HS256", "HS384", "HS512", "PS256", "PS384", "PS512", "RS256",
    "RS384", "RS512",
];

/// Signing or verification key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(expecting = "a key")]
pub(crate) struct Key {
    /// Verification key: PEM, or the secret of an HMAC.
    pub(crate) key: Option<Secret>,
    private_key: Option<Secret>,
    algorithm: Option<String>,
    /// Scope that signatures must have.
    pub(crate) scope: Option<String>,
}

impl Key {
    /// Signature algorithm.
    pub(crate) fn algorithm(&self) -> &str {
        self.algorithm.as_deref().unwrap_or(DEFAULT_ALGORITHM)
    }

    /// Private key that signs: PEM, or the secret of an HMAC.
    pub(crate) fn private_key(&self) -> Option<&str> {
        let key = self.private_key.as_ref()?.0.as_str();
        Some(key).filter(|key| !key.is_empty())
    }

    /// Validates the key; the error names the unknown algorithm or missing member.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        let algorithm = self.algorithm();
        if !ALGORITHMS.contains(&algorithm) {
            return Err(format!(
                "keys: `{name}`: algorithm `{algorithm}` is not known"
            ));
        }
        match (&self.key, &self.private_key) {
            (None, None) => Err(format!("keys: `{name}`: `key` or `private_key` is missing")),
            _ => Ok(()),
        }
    }
}
