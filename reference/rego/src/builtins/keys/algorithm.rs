//! The signature algorithms of JSON Web Tokens.

use ed25519_dalek::Signer;
use getrandom::SysRng;
use hmac::{Hmac, KeyInit, Mac};
use rsa::rand_core::UnwrapErr;
use rsa::{Pkcs1v15Sign, Pss};
use sha2::{Digest, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq;

use super::rsa::MIN_BITS;
use super::{Private, Public};

/// What is computed before a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// The digest of a message.
    pub(in crate::builtins) fn digest(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(message).to_vec(),
            Self::Sha384 => Sha384::digest(message).to_vec(),
            Self::Sha512 => Sha512::digest(message).to_vec(),
        }
    }
}

/// How something is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Algorithm {
    Hmac(Hash),
    Rsa(Hash),
    RsaPss(Hash),
    Curve(Hash),
    Ed25519,
}

impl Algorithm {
    /// The algorithm of this name. `none` is none of them.
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

    /// Whether a signature is right; never when the key is of another kind than the algorithm.
    pub(in crate::builtins) fn verify(
        self,
        key: &Public,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        match (self, key) {
            (Self::Rsa(hash), Public::Rsa(key)) if long_enough(key) => {
                let digest = hash.digest(message);
                key.verify(pkcs1(hash), &digest, signature).is_ok()
            }
            (Self::RsaPss(hash), Public::Rsa(key)) if long_enough(key) => {
                let digest = hash.digest(message);
                match hash {
                    Hash::Sha256 => key.verify(any_salt::<Sha256>(), &digest, signature),
                    Hash::Sha384 => key.verify(any_salt::<Sha384>(), &digest, signature),
                    Hash::Sha512 => key.verify(any_salt::<Sha512>(), &digest, signature),
                }
                .is_ok()
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

    /// As [`Algorithm::verify`], and the numbers of a signature must have the curve's width.
    pub(in crate::builtins) fn verify_strictly(
        self,
        key: &Public,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let fits = match key {
            Public::Curve(key) => signature.len() == 2 * key.curve().size(),
            _ => true,
        };
        fits && self.verify(key, message, signature)
    }

    /// Whether a code made with a shared secret is right.
    pub(in crate::builtins) fn verify_secret(
        self,
        secret: &[u8],
        message: &[u8],
        code: &[u8],
    ) -> bool {
        self.authenticate(secret, message)
            .is_some_and(|right| right.ct_eq(code).into())
    }

    /// The code of a message, if this is an algorithm for shared secrets.
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

    /// A signature, if the key is of the algorithm's kind and can make one.
    pub(in crate::builtins) fn sign(self, key: &Private, message: &[u8]) -> Option<Vec<u8>> {
        match (self, key) {
            (Self::Rsa(hash), Private::Rsa(key)) => {
                let key = key.key().filter(|key| long_enough(key.as_public_key()))?;
                let digest = hash.digest(message);
                let mut random = random();
                key.sign_with_rng(&mut random, pkcs1(hash), &digest).ok()
            }
            (Self::RsaPss(hash), Private::Rsa(key)) => {
                let key = key.key().filter(|key| long_enough(key.as_public_key()))?;
                let digest = hash.digest(message);
                let mut random = random();
                match hash {
                    Hash::Sha256 => key.sign_with_rng(&mut random, Pss::<Sha256>::new(), &digest),
                    Hash::Sha384 => key.sign_with_rng(&mut random, Pss::<Sha384>::new(), &digest),
                    Hash::Sha512 => key.sign_with_rng(&mut random, Pss::<Sha512>::new(), &digest),
                }
                .ok()
            }
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

fn pkcs1(hash: Hash) -> Pkcs1v15Sign {
    match hash {
        Hash::Sha256 => Pkcs1v15Sign::new::<Sha256>(),
        Hash::Sha384 => Pkcs1v15Sign::new::<Sha384>(),
        Hash::Sha512 => Pkcs1v15Sign::new::<Sha512>(),
    }
}

/// Probabilistic padding that finds the length of its salt itself.
fn any_salt<D: Digest>() -> Pss<D> {
    let mut padding = Pss::new();
    padding.salt_len = None;
    padding
}

fn long_enough(key: &rsa::RsaPublicKey) -> bool {
    use rsa::traits::PublicKeyParts;
    key.n().bits_vartime() >= MIN_BITS
}

/// The system's random numbers.
fn random() -> UnwrapErr<SysRng> {
    UnwrapErr(SysRng)
}
