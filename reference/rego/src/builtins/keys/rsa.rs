//! RSA: conversion of keys from and to their numbers, and signatures.

use getrandom::SysRng;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair, KeyPairComponents, PublicKeyComponents};
use ring::signature::{self, RsaEncoding};
use rsa::rand_core::UnwrapErr;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{BoxedUint, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::hash::Hash;

/// Maximum number of bits of a modulus, as the cost of each use is quadratic in it.
pub(super) const MAX_BITS: usize = 8192;

/// Minimum number of bits of a modulus, as shorter ones can be factored.
const MIN_BITS: u32 = 1024;

/// Padding of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Padding {
    /// PKCS #1 v1.5.
    Fixed,
    /// PSS, with a salt as long as the digest; verification accepts any length.
    Salted,
}

/// Numbers of a private key in big-endian order.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::builtins) struct Private {
    pub(in crate::builtins) modulus: Vec<u8>,
    pub(in crate::builtins) public_exponent: Vec<u8>,
    pub(in crate::builtins) exponent: Vec<u8>,
    pub(in crate::builtins) primes: [Vec<u8>; 2],
    /// CRT exponents of the primes, and the inverse of the second prime.
    pub(in crate::builtins) precomputed: [Vec<u8>; 3],
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RSA private key")
    }
}

/// Converts bytes to a number of minimal width.
fn number(bytes: &[u8]) -> BoxedUint {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    BoxedUint::from_be_slice_vartime(bytes.get(zeros..).unwrap_or_default())
}

/// Creates the public key of a modulus and an exponent, if they are valid.
pub(in crate::builtins) fn public(modulus: &[u8], exponent: &[u8]) -> Option<RsaPublicKey> {
    if exponent.len() > modulus.len() {
        return None;
    }
    RsaPublicKey::new_with_size_limits(number(modulus), number(exponent), 2..=MAX_BITS).ok()
}

/// Returns the CRT exponents of the primes, and the inverse of the second prime.
fn precomputed(key: &RsaPrivateKey) -> Option<[Box<[u8]>; 3]> {
    let inverse = key.qinv()?.retrieve();
    Some([key.dp()?, key.dq()?, &inverse].map(trimmed))
}

impl Private {
    /// Returns the public key.
    pub(in crate::builtins) fn public(&self) -> Option<RsaPublicKey> {
        public(&self.modulus, &self.public_exponent)
    }

    /// Returns the key, if its numbers are consistent.
    pub(in crate::builtins) fn key(&self) -> Option<RsaPrivateKey> {
        let width = self.modulus.len();
        let rest = [&self.exponent, &self.public_exponent];
        let mut others = self.primes.iter().chain(rest);
        if width * 8 > MAX_BITS || others.any(|number| number.len() > width) {
            return None;
        }
        RsaPrivateKey::from_components(
            number(&self.modulus),
            number(&self.public_exponent),
            number(&self.exponent),
            self.primes.iter().map(|prime| number(prime)).collect(),
        )
        .ok()
    }

    /// Returns the key with all precomputed numbers, if its numbers match each other.
    pub(super) fn completed(self) -> Option<Self> {
        let key = self.key()?;
        if !self.states_precomputed_of(&key) {
            return None;
        }
        let precomputed = precomputed(&key)?.map(|number| number.to_vec());
        Some(Self {
            precomputed,
            ..self
        })
    }

    /// Whether the precomputed numbers, if all are given, match the key.
    fn states_precomputed_of(&self, key: &RsaPrivateKey) -> bool {
        let is_stated = self.precomputed.iter().all(|bytes| !bytes.is_empty());
        let precomputed_values = self
            .precomputed
            .each_ref()
            .map(|bytes| trimmed(&number(bytes)));
        !is_stated || precomputed(key) == Some(precomputed_values)
    }

    /// Signs a message, if the numbers of the key are consistent and the key is long enough.
    pub(super) fn sign(&self, padding: Padding, hash: Hash, message: &[u8]) -> Option<Vec<u8>> {
        let key = self.key().filter(long_enough)?;
        if !self.states_precomputed_of(&key) {
            return None;
        }
        match pair(&key) {
            Some(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let random = SystemRandom::new();
                let signed = pair.sign(encoding(padding, hash), &random, message, &mut signature);
                signed.ok().map(|()| signature)
            }
            None => sign_unusual(&key, padding, hash, &hash.digest(message)),
        }
    }
}

/// Encodes the number without leading zeros.
fn trimmed(number: &BoxedUint) -> Box<[u8]> {
    number.to_be_bytes_trimmed_vartime()
}

/// Converts a key for `ring`, if supported: 2048, 3072 or 4096 bits, public exponent from 65537 on.
fn pair(key: &RsaPrivateKey) -> Option<KeyPair> {
    let [p, q] = key.primes() else {
        return None;
    };
    KeyPair::from_components(&KeyPairComponents {
        public_key: PublicKeyComponents {
            n: key.n_bytes(),
            e: key.e_bytes(),
        },
        d: trimmed(key.d()),
        p: trimmed(p),
        q: trimmed(q),
        dP: trimmed(key.dp()?),
        dQ: trimmed(key.dq()?),
        qInv: trimmed(&key.qinv()?.retrieve()),
    })
    .ok()
}

fn encoding(padding: Padding, hash: Hash) -> &'static dyn RsaEncoding {
    match (padding, hash) {
        (Padding::Fixed, Hash::Sha256) => &signature::RSA_PKCS1_SHA256,
        (Padding::Fixed, Hash::Sha384) => &signature::RSA_PKCS1_SHA384,
        (Padding::Fixed, Hash::Sha512) => &signature::RSA_PKCS1_SHA512,
        (Padding::Salted, Hash::Sha256) => &signature::RSA_PSS_SHA256,
        (Padding::Salted, Hash::Sha384) => &signature::RSA_PSS_SHA384,
        (Padding::Salted, Hash::Sha512) => &signature::RSA_PSS_SHA512,
    }
}

/// Signs with a key whose size or exponent `ring` does not support.
fn sign_unusual(
    key: &RsaPrivateKey,
    padding: Padding,
    hash: Hash,
    digest: &[u8],
) -> Option<Vec<u8>> {
    let mut random = UnwrapErr(SysRng);
    match (padding, hash) {
        (Padding::Fixed, _) => key.sign_with_rng(&mut random, fixed(hash), digest),
        (_, Hash::Sha256) => key.sign_with_rng(&mut random, Pss::<Sha256>::new(), digest),
        (_, Hash::Sha384) => key.sign_with_rng(&mut random, Pss::<Sha384>::new(), digest),
        (_, Hash::Sha512) => key.sign_with_rng(&mut random, Pss::<Sha512>::new(), digest),
    }
    .ok()
}

/// Whether the signature of a message is valid and the key is long enough.
pub(super) fn verify(
    key: &RsaPublicKey,
    padding: Padding,
    hash: Hash,
    message: &[u8],
    signature: &[u8],
) -> bool {
    let digest = hash.digest(message);
    let verified = match (padding, hash) {
        (Padding::Fixed, _) => key.verify(fixed(hash), &digest, signature),
        (_, Hash::Sha256) => key.verify(any_salt::<Sha256>(), &digest, signature),
        (_, Hash::Sha384) => key.verify(any_salt::<Sha384>(), &digest, signature),
        (_, Hash::Sha512) => key.verify(any_salt::<Sha512>(), &digest, signature),
    };
    long_enough(key) && verified.is_ok()
}

fn fixed(hash: Hash) -> Pkcs1v15Sign {
    match hash {
        Hash::Sha256 => Pkcs1v15Sign::new::<Sha256>(),
        Hash::Sha384 => Pkcs1v15Sign::new::<Sha384>(),
        Hash::Sha512 => Pkcs1v15Sign::new::<Sha512>(),
    }
}

/// PSS padding that detects the length of the salt.
fn any_salt<D: Digest>() -> Pss<D> {
    let mut padding = Pss::new();
    padding.salt_len = None;
    padding
}

fn long_enough(key: &impl PublicKeyParts) -> bool {
    key.n().bits_vartime() >= MIN_BITS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::error::Error;

    use super::*;
    use crate::Value;
    use crate::builtins::keys;
    use crate::builtins::keys::jwk::{self, Material};
    use crate::value::from_json;

    /// `ring` signs with every key that it supports.
    #[test]
    fn usual_keys_are_those_of_ring() -> Result<(), Box<dyn Error>> {
        let table = include_bytes!("../../../tests/builtins/jwt.json");
        let table = from_json(table).map_err(|error| error.to_string())?;
        let mut taken = BTreeMap::new();
        for entry in table.as_array().ok_or("a table is an array")? {
            let operands = entry.get("operands").and_then(Value::as_array);
            let Some(key) = operands.and_then(|operands| operands.get(2)) else {
                continue;
            };
            for key in jwk::read(key.to_string().as_bytes()).unwrap_or_default() {
                if let Material::Private(keys::Private::Rsa(key)) = key.material {
                    let key = key.key().ok_or("the numbers fit")?;
                    taken.insert(key.n().bits_vartime(), pair(&key).is_some());
                }
            }
        }
        assert_eq!(taken, BTreeMap::from([(1024, false), (2048, true)]));
        Ok(())
    }
}
