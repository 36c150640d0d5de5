//! SHA-256 of bytes, shown in place of those that are too long.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of bytes in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
