//! Keys on the curves P-256, P-384 and P-521.

use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};

/// Public key: a point on one of the curves.
#[derive(Debug, Clone, Copy)]
pub(in crate::builtins) enum Public {
    P256(p256::ecdsa::VerifyingKey),
    P384(p384::ecdsa::VerifyingKey),
    P521(p521::ecdsa::VerifyingKey),
}

/// Private key. In a JSON Web Key the point is a separate member that need not match the secret
/// number: the number signs and the point verifies.
#[derive(Debug, Clone)]
pub(in crate::builtins) struct Private {
    public: Public,
    /// Absent when the secret number is 0 or not less than the order of the curve.
    signer: Option<Signer>,
}

/// Secret number of a private key, which creates signatures.
#[derive(Debug, Clone)]
pub(in crate::builtins) enum Signer {
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    P521(p521::ecdsa::SigningKey),
}

/// Elliptic curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Curve {
    P256,
    P384,
    P521,
}

impl Curve {
    /// Returns the curve with this JWK name.
    pub(in crate::builtins) fn named(name: &str) -> Option<Self> {
        [Self::P256, Self::P384, Self::P521]
            .into_iter()
            .find(|curve| curve.name() == name)
    }

    /// Returns the JWK name.
    pub(in crate::builtins) fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// Returns the length of a coordinate in bytes.
    pub(in crate::builtins) fn size(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

/// Pads a number to exactly this many bytes, if it fits.
fn widen(number: &[u8], size: usize) -> Option<Vec<u8>> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = number.get(zeros..)?;
    let mut wide = vec![0; size.checked_sub(number.len())?];
    wide.extend_from_slice(number);
    Some(wide)
}

impl Public {
    /// Parses a SEC 1 encoded point.
    pub(in crate::builtins) fn read(curve: Curve, point: &[u8]) -> Option<Self> {
        match curve {
            Curve::P256 => p256::ecdsa::VerifyingKey::from_sec1_bytes(point).map(Self::P256),
            Curve::P384 => p384::ecdsa::VerifyingKey::from_sec1_bytes(point).map(Self::P384),
            Curve::P521 => p521::ecdsa::VerifyingKey::from_sec1_bytes(point).map(Self::P521),
        }
        .ok()
    }

    /// Creates the point with these coordinates, if it is on the curve.
    pub(in crate::builtins) fn at(curve: Curve, x: &[u8], y: &[u8]) -> Option<Self> {
        let uncompressed = 4;
        let mut point = vec![uncompressed];
        point.extend(widen(x, curve.size())?);
        point.extend(widen(y, curve.size())?);
        Self::read(curve, &point)
    }

    pub(in crate::builtins) fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
        }
    }

    /// Returns the coordinates.
    pub(in crate::builtins) fn coordinates(&self) -> (Vec<u8>, Vec<u8>) {
        let point = match self {
            Self::P256(key) => key.to_sec1_point(false).as_bytes().to_vec(),
            Self::P384(key) => key.to_sec1_point(false).as_bytes().to_vec(),
            Self::P521(key) => key.to_sec1_point(false).as_bytes().to_vec(),
        };
        let coordinates = point.get(1..).unwrap_or_default();
        let (x, y) = coordinates.split_at(coordinates.len() / 2);
        (x.to_vec(), y.to_vec())
    }

    /// Whether the two numbers of a signature are valid for a digest.
    pub(in crate::builtins) fn verify(&self, digest: &[u8], r: &[u8], s: &[u8]) -> bool {
        let size = self.curve().size();
        let (Some(mut signature), Some(s)) = (widen(r, size), widen(s, size)) else {
            return false;
        };
        signature.extend(s);
        // A digest much shorter than the curve is zero-extended, which preserves its number.
        let digest = match digest.len() < size {
            true => widen(digest, size).unwrap_or_default(),
            false => digest.to_vec(),
        };
        match self {
            Self::P256(key) => p256::ecdsa::Signature::from_slice(&signature)
                .is_ok_and(|signature| key.verify_prehash(&digest, &signature).is_ok()),
            Self::P384(key) => p384::ecdsa::Signature::from_slice(&signature)
                .is_ok_and(|signature| key.verify_prehash(&digest, &signature).is_ok()),
            Self::P521(key) => p521::ecdsa::Signature::from_slice(&signature)
                .is_ok_and(|signature| key.verify_prehash(&digest, &signature).is_ok()),
        }
    }
}

impl From<Signer> for Private {
    fn from(signer: Signer) -> Self {
        Self {
            public: signer.public(),
            signer: Some(signer),
        }
    }
}

impl Private {
    /// Creates a key from a point and a secret number of the same curve.
    pub(in crate::builtins) fn new(public: Public, number: &[u8]) -> Self {
        Self {
            public,
            signer: Signer::of(public.curve(), number),
        }
    }

    pub(in crate::builtins) fn public(&self) -> Public {
        self.public
    }

    /// Returns the secret number; empty if it is invalid for the curve.
    pub(in crate::builtins) fn number(&self) -> Vec<u8> {
        self.signer.as_ref().map(Signer::number).unwrap_or_default()
    }

    /// Returns the concatenated numbers of a signature, or `None` if the secret number of the key
    /// is invalid for the curve.
    pub(in crate::builtins) fn sign(&self, digest: &[u8]) -> Option<Vec<u8>> {
        self.signer.as_ref()?.sign(digest)
    }
}

impl Signer {
    /// Creates the signer with a secret number, if the number is valid for the curve.
    pub(super) fn of(curve: Curve, number: &[u8]) -> Option<Self> {
        let number = widen(number, curve.size())?;
        match curve {
            Curve::P256 => p256::ecdsa::SigningKey::from_slice(&number).map(Self::P256),
            Curve::P384 => p384::ecdsa::SigningKey::from_slice(&number).map(Self::P384),
            Curve::P521 => p521::ecdsa::SigningKey::from_slice(&number).map(Self::P521),
        }
        .ok()
    }

    fn number(&self) -> Vec<u8> {
        match self {
            Self::P256(key) => key.to_bytes().to_vec(),
            Self::P384(key) => key.to_bytes().to_vec(),
            Self::P521(key) => key.to_bytes().to_vec(),
        }
    }

    fn public(&self) -> Public {
        match self {
            Self::P256(key) => Public::P256(*key.verifying_key()),
            Self::P384(key) => Public::P384(*key.verifying_key()),
            Self::P521(key) => Public::P521(*key.verifying_key()),
        }
    }

    fn sign(&self, digest: &[u8]) -> Option<Vec<u8>> {
        let size = self.public().curve().size();
        let digest = match digest.len() < size {
            true => widen(digest, size)?,
            false => digest.to_vec(),
        };
        match self {
            Self::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign_prehash(&digest).ok()?;
                Some(signature.to_bytes().to_vec())
            }
            Self::P384(key) => {
                let signature: p384::ecdsa::Signature = key.sign_prehash(&digest).ok()?;
                Some(signature.to_bytes().to_vec())
            }
            Self::P521(key) => {
                let signature: p521::ecdsa::Signature = key.sign_prehash(&digest).ok()?;
                Some(signature.to_bytes().to_vec())
            }
        }
    }
}
