//! Signature keys: RSA, elliptic curves, Ed25519.

pub(super) mod algorithm;
pub(super) mod curve;
pub(super) mod der;
pub(super) mod hash;
pub(super) mod identifiers;
pub(super) mod jwk;
mod jwk_members;
pub(super) mod public_key;
pub(super) mod reader;
pub(super) mod rsa;

use super::{BuiltinLimit, Maximum};
pub(super) use algorithm::Algorithm;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["io.jwt.", "crypto.x509."],
    subject: "modulus of an RSA key",
    most: Maximum::Bits(rsa::MAX_BITS as u64),
}];

/// Public key that verifies signatures.
#[derive(Debug, Clone)]
pub(super) enum Public {
    Rsa(Box<::rsa::RsaPublicKey>),
    Curve(Box<curve::Public>),
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
    /// Key of a kind that no algorithm supports.
    Other,
}

/// Private key that signs.
#[derive(Debug)]
pub(super) enum Private {
    Rsa(Box<rsa::Private>),
    Curve(Box<curve::Private>),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl Private {
    /// Returns the public key that verifies signatures of this key.
    pub(super) fn public(&self) -> Public {
        match self {
            Self::Rsa(key) => match key.public() {
                Some(key) => Public::Rsa(Box::new(key)),
                None => Public::Other,
            },
            Self::Curve(key) => Public::Curve(Box::new(key.public())),
            Self::Ed25519(key) => Public::Ed25519(Box::new(key.verifying_key())),
        }
    }
}
