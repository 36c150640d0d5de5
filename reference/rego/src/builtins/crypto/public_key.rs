//! Public keys in certificates and certificate requests.

use num_bigint::BigUint;

use super::reader::Reader;
use super::tlv::{SEQUENCE, dotted, identifier};
use crate::builtins::keys::{Private, Public, curve, der};

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
pub(super) struct Algorithm<'d> {
    /// Object identifier in dotted notation.
    pub(super) id: String,
    /// DER of the parameters; empty if absent.
    pub(super) parameters: &'d [u8],
}

/// Public key with its algorithm.
#[derive(Debug)]
pub(super) struct PublicKey<'d> {
    /// DER of all.
    pub(super) raw: &'d [u8],
    pub(super) algorithm: Algorithm<'d>,
    pub(super) numbers: Numbers,
    /// Key that verifies signatures.
    pub(super) key: Public,
}

/// Numbers of a public key, as objects show them.
#[derive(Debug)]
pub(super) enum Numbers {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Curve { x: Vec<u8>, y: Vec<u8> },
    Ed25519(Vec<u8>),
    Other,
}

impl<'d> Algorithm<'d> {
    /// Parses the contents of an algorithm identifier.
    pub(super) fn read(contents: &'d [u8]) -> Option<Self> {
        let mut reader = Reader::new(contents);
        let id = dotted(&identifier(reader.identifier()?)?);
        let parameters = reader.any_raw()?;
        Some(Self { id, parameters })
    }
}

impl<'d> PublicKey<'d> {
    /// Parses the DER of a key; `None` if it is malformed or does not fit its algorithm.
    pub(super) fn read(raw: &'d [u8]) -> Option<Self> {
        let mut parts = Reader::new(raw).nested(SEQUENCE)?;
        let algorithm = Algorithm::read(parts.read(SEQUENCE)?)?;
        let bytes = parts.bit_string()?.right_aligned();
        let numbers = Numbers::read(&algorithm, &bytes)?;
        Some(Self {
            raw,
            numbers,
            algorithm,
            key: der::public(raw).unwrap_or(Public::Other),
        })
    }

    /// Returns the number of the kind of key in Go's `crypto/x509`; 0 if it is unknown.
    pub(super) fn kind(&self) -> u64 {
        match self.algorithm.id.as_str() {
            der::RSA => 1,
            DSA => 2,
            der::CURVES => 3,
            der::ED25519 => 4,
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
    pub(super) fn check_pair(&self, private: &Private) -> Result<(), &'static str> {
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

    fn read(algorithm: &Algorithm<'_>, key: &[u8]) -> Option<Self> {
        match algorithm.id.as_str() {
            der::RSA => {
                let mut numbers = Reader::new(key).nested(SEQUENCE)?;
                let modulus = numbers.positive_integer()?.to_vec();
                let exponent = numbers.positive_integer()?.to_vec();
                let fits = algorithm.parameters == NULL && exponent.len() <= 8;
                fits.then_some(Self::Rsa { modulus, exponent })
            }
            der::CURVES => {
                let named = Reader::new(algorithm.parameters).identifier()?;
                let named = dotted(&identifier(named)?);
                if named == P224 {
                    return Some(Self::Other);
                }
                let is_uncompressed = key.first() == Some(&4);
                let curve = der::curve_of(&named).filter(|_| is_uncompressed)?;
                let (x, y) = curve::Public::read(curve, key)?.coordinates();
                Some(Self::Curve { x, y })
            }
            kind @ (der::ED25519 | X25519) => {
                let fits = algorithm.parameters.is_empty() && key.len() == SHORT_KEY;
                fits.then(|| match kind == der::ED25519 {
                    true => Self::Ed25519(key.to_vec()),
                    false => Self::Other,
                })
            }
            _ => Some(Self::Other),
        }
    }
}
