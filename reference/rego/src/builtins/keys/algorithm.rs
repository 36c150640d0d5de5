//! Signature algorithms of JSON Web Tokens.

use ed25519_dalek::Signer;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq;

use super::hash::Hash;
use super::rsa::{self, Padding};
use super::{Private, Public};

/// Signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Algorithm {
    Hmac(Hash),
    Rsa(Hash),
    RsaPss(Hash),
    Curve(Hash),
    Ed25519,
}

impl Algorithm {
    /// Returns the algorithm that verifies tokens of this name. RFC 9864 adds a name for `EdDSA`.
    pub(in crate::builtins) fn verifying(name: &str) -> Option<Self> {
        match name {
            "Ed25519" => Some(Self::Ed25519),
            name => Self::named(name),
        }
    }

    /// Returns the algorithm of this name, except for `none`.
    pub(in crate::builtins) fn named(name: &str) -> Option<Self> {
        if name == "EdDSA" {
            return Some(Self::Ed25519);
        }
        let hash = match name.get(2..)? {
            "256" => Hash::Sha256,
            "384" => Hash::Sha384,
            "512" => Hash::Sha512,
            _ => return None,
        };
        match name.get(..2)? {
            "HS" => Some(Self::Hmac(hash)),
            "RS" => Some(Self::Rsa(hash)),
            "PS" => Some(Self::RsaPss(hash)),
            "ES" => Some(Self::Curve(hash)),
            _ => None,
        }
    }

    /// Whether a signature is valid; always false if the key is not for the algorithm.
    pub(in crate::builtins) fn verify(
        self,
        key: &Public,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        match (self, key) {
            (Self::Rsa(hash), Public::Rsa(key)) => {
                rsa::verify(key, Padding::Fixed, hash, message, signature)
            }
            (Self::RsaPss(hash), Public::Rsa(key)) => {
                rsa::verify(key, Padding::Salted, hash, message, signature)
            }
            (Self::Curve(hash), Public::Curve(key)) => {
                let (r, s) = signature.split_at(signature.len() / 2);
                key.verify(&hash.digest(message), r, s)
            }
            (Self::Ed25519, Public::Ed25519(key)) => {
                ed25519_dalek::Signature::from_slice(signature).is_ok_and(|signature| {
                    ed25519_dalek::Verifier::verify(&**key, message, &signature).is_ok()
                })
            }
            _ => false,
        }
    }

    /// Like [`Algorithm::verify`], but the numbers of a signature must have the curve's width.
    pub(in crate::builtins) fn verify_strictly(
        self,
        key: &Public,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let is_compatible = match key {
            Public::Curve(key) => signature.len() == 2 * key.curve().size(),
            _ => true,
        };
        is_compatible && self.verify(key, message, signature)
    }

    /// Whether a MAC for a shared secret is valid.
    pub(in crate::builtins) fn verify_secret(
        self,
        secret: &[u8],
        message: &[u8],
        code: &[u8],
    ) -> bool {
        self.authenticate(secret, message)
            .is_some_and(|right| right.ct_eq(code).into())
    }

    /// Returns the MAC of a message, if this is an algorithm for shared secrets.
    pub(in crate::builtins) fn authenticate(
        self,
        secret: &[u8],
        message: &[u8],
    ) -> Option<Vec<u8>> {
        match self {
            Self::Hmac(Hash::Sha256) => mac::<Hmac<Sha256>>(secret, message),
            Self::Hmac(Hash::Sha384) => mac::<Hmac<Sha384>>(secret, message),
            Self::Hmac(Hash::Sha512) => mac::<Hmac<Sha512>>(secret, message),
            _ => None,
        }
    }

    /// Returns the signature, if the key is for the algorithm and able to sign.
    pub(in crate::builtins) fn sign(self, key: &Private, message: &[u8]) -> Option<Vec<u8>> {
        match (self, key) {
            (Self::Rsa(hash), Private::Rsa(key)) => key.sign(Padding::Fixed, hash, message),
            (Self::RsaPss(hash), Private::Rsa(key)) => key.sign(Padding::Salted, hash, message),
            (Self::Curve(hash), Private::Curve(key)) => key.sign(&hash.digest(message)),
            (Self::Ed25519, Private::Ed25519(key)) => Some(key.sign(message).to_vec()),
            _ => None,
        }
    }
}

fn mac<M: Mac + KeyInit>(secret: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let mut mac = <M as KeyInit>::new_from_slice(secret).ok()?;
    mac.update(message);
    Some(mac.finalize().into_bytes().to_vec())
}
