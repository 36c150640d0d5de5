//! RSA keys from and to their numbers.

use rsa::{BoxedUint, RsaPrivateKey, RsaPublicKey};

/// Moduli beyond this many bits are refused, as each use costs the square of it.
const MAX_BITS: usize = 8192;

/// Shorter moduli can be factored.
pub(in crate::builtins) const MIN_BITS: u32 = 1024;

/// The numbers of a private key, the highest byte first.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::builtins) struct Private {
    pub(in crate::builtins) modulus: Vec<u8>,
    pub(in crate::builtins) public_exponent: Vec<u8>,
    pub(in crate::builtins) exponent: Vec<u8>,
    pub(in crate::builtins) primes: [Vec<u8>; 2],
    /// The exponents for the primes, and the inverse of the second prime.
    pub(in crate::builtins) precomputed: [Vec<u8>; 3],
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RSA private key")
    }
}

/// The number of these bytes, as wide as it needs.
fn number(bytes: &[u8]) -> BoxedUint {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    BoxedUint::from_be_slice_vartime(bytes.get(zeros..).unwrap_or_default())
}

/// The public key of a modulus and an exponent, if they can be one.
pub(in crate::builtins) fn public(modulus: &[u8], exponent: &[u8]) -> Option<RsaPublicKey> {
    if exponent.len() > modulus.len() {
        return None;
    }
    RsaPublicKey::new_with_size_limits(number(modulus), number(exponent), 2..=MAX_BITS).ok()
}

impl Private {
    /// The public half.
    pub(in crate::builtins) fn public(&self) -> Option<RsaPublicKey> {
        public(&self.modulus, &self.public_exponent)
    }

    /// The key, if its numbers fit.
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
}
