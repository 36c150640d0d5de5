//! Public keys with their algorithm, as `PUBLIC KEY` blocks, certificates and certificate requests
//! contain them.

use num_bigint::BigUint;

use super::curve;
use super::identifiers::{CURVES, ED25519, RSA, curve_of};
use super::reader::{Reader, SEQUENCE, dotted, identifier};
use super::rsa as rsa_key;
use super::{Private, Public};

/// Object identifiers of keys that verify no signature here.
const DSA: &str = "1.2.840.10040.4.1";
const X25519: &str = "1.3.101.110";
/// Curve that Go supports, and that is not supported here.
const P224: &str = "1.3.132.0.33";

/// DER of NULL, the only permitted parameters of an RSA key.
const NULL: [u8; 2] = [5, 0];

/// Length of a key on Curve25519, in bytes.
const SHORT_KEY: usize = 32;

/// Algorithm with its parameters.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::builtins) struct AlgorithmIdentifier<'d> {
    /// Object identifier in dotted notation.
    pub(in crate::builtins) id: String,
    /// DER of the parameters; empty if absent.
    pub(in crate::builtins) parameters: &'d [u8],
}

/// Public key with its algorithm.
#[derive(Debug)]
pub(in crate::builtins) struct PublicKey<'d> {
    /// DER of all.
    pub(in crate::builtins) raw: &'d [u8],
    pub(in crate::builtins) algorithm: AlgorithmIdentifier<'d>,
    pub(in crate::builtins) numbers: Numbers,
    /// Key that verifies signatures.
    pub(in crate::builtins) key: Public,
}

/// Numbers of a public key, as objects show them.
#[derive(Debug)]
pub(in crate::builtins) enum Numbers {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Curve { x: Vec<u8>, y: Vec<u8> },
    Ed25519(Vec<u8>),
    Other,
}

impl<'d> AlgorithmIdentifier<'d> {
    /// Parses the contents of an algorithm identifier.
    pub(in crate::builtins) fn read(contents: &'d [u8]) -> Option<Self> {
        let mut reader = Reader::new(contents);
        let id = dotted(&identifier(reader.identifier()?)?);
        let parameters = reader.any_raw()?;
        Some(Self { id, parameters })
    }
}

impl<'d> PublicKey<'d> {
    /// Parses the DER of a key; `None` if it is malformed or does not fit its algorithm. A key with
    /// unusable numbers can only refuse signatures.
    pub(in crate::builtins) fn read(raw: &'d [u8]) -> Option<Self> {
        let mut parts = Reader::new(raw).nested(SEQUENCE)?;
        let algorithm = AlgorithmIdentifier::read(parts.read(SEQUENCE)?)?;
        let bytes = parts.bit_string()?.right_aligned();
        let (numbers, key) = match algorithm.id.as_str() {
            RSA => rsa(algorithm.parameters, &bytes)?,
            CURVES => on_curve(algorithm.parameters, &bytes)?,
            ED25519 if fits_short_key(&algorithm, &bytes) => ed25519(&bytes)?,
            X25519 if fits_short_key(&algorithm, &bytes) => (Numbers::Other, Public::Other),
            ED25519 | X25519 => return None,
            _ => (Numbers::Other, Public::Other),
        };
        Some(Self {
            raw,
            algorithm,
            numbers,
            key,
        })
    }

    /// Returns the number of the kind of key in Go's `crypto/x509`; 0 if it is unknown.
    pub(in crate::builtins) fn kind(&self) -> u64 {
        match self.algorithm.id.as_str() {
            RSA => 1,
            DSA => 2,
            CURVES => 3,
            ED25519 => 4,
            X25519 => 5,
            _ => 0,
        }
    }
}

impl Numbers {
    /// Checks that a private key belongs to this key.
    ///
    /// # Errors
    /// When it is another key, or one of another kind.
    pub(in crate::builtins) fn check_pair(&self, private: &Private) -> Result<(), &'static str> {
        let is_pair = match (self, private) {
            (Self::Rsa { modulus, exponent }, Private::Rsa(key)) => {
                let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
                let own = [modulus, exponent].map(|bytes| number(bytes));
                own == [&key.modulus, &key.public_exponent].map(|bytes| number(bytes))
            }
            (Self::Curve { x, y }, Private::Curve(key)) => {
                let (other_x, other_y) = key.public().coordinates();
                (x, y) == (&other_x, &other_y)
            }
            (Self::Ed25519(own), Private::Ed25519(key)) => key.verifying_key().as_bytes() == &**own,
            (Self::Other, _) => return Err("tls: unknown public key algorithm"),
            _ => return Err("tls: private key type does not match public key type"),
        };
        match is_pair {
            true => Ok(()),
            false => Err("tls: private key does not match public key"),
        }
    }
}

/// Returns the modulus and the exponent of a PKCS #1 public key.
pub(in crate::builtins) fn rsa_numbers(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut numbers = Reader::new(der).nested(SEQUENCE)?;
    let modulus = numbers.positive_integer()?;
    let exponent = numbers.positive_integer()?;
    (exponent.len() <= 8).then_some((modulus, exponent))
}

fn rsa(parameters: &[u8], der: &[u8]) -> Option<(Numbers, Public)> {
    let (modulus, exponent) = rsa_numbers(der)?;
    let key = rsa_key::public(modulus, exponent);
    let key = key.map_or(Public::Other, |key| Public::Rsa(Box::new(key)));
    let numbers = Numbers::Rsa {
        modulus: modulus.to_vec(),
        exponent: exponent.to_vec(),
    };
    (parameters == NULL).then_some((numbers, key))
}

fn on_curve(parameters: &[u8], point: &[u8]) -> Option<(Numbers, Public)> {
    let named = Reader::new(parameters).identifier()?;
    let named = dotted(&identifier(named)?);
    if named == P224 {
        return Some((Numbers::Other, Public::Other));
    }
    let is_uncompressed = point.first() == Some(&4);
    let curve = curve_of(&named).filter(|_| is_uncompressed)?;
    let key = curve::Public::read(curve, point)?;
    let (x, y) = key.coordinates();
    Some((Numbers::Curve { x, y }, Public::Curve(Box::new(key))))
}

fn fits_short_key(algorithm: &AlgorithmIdentifier<'_>, key: &[u8]) -> bool {
    algorithm.parameters.is_empty() && key.len() == SHORT_KEY
}

fn ed25519(bytes: &[u8]) -> Option<(Numbers, Public)> {
    let key = ed25519_dalek::VerifyingKey::from_bytes(bytes.try_into().ok()?);
    let key = key.map_or(Public::Other, |key| Public::Ed25519(Box::new(key)));
    Some((Numbers::Ed25519(bytes.to_vec()), key))
}
