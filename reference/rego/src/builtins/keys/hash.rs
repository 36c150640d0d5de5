//! Hash functions of signatures.

use sha2::{Digest, Sha256, Sha384, Sha512};

/// Hash function of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// Returns the digest of a message.
    pub(in crate::builtins) fn digest(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(message).to_vec(),
            Self::Sha384 => Sha384::digest(message).to_vec(),
            Self::Sha512 => Sha512::digest(message).to_vec(),
        }
    }
}
