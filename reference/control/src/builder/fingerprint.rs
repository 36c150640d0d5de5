//! Fingerprint: hash of the input files of a build.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::fetch::Fetched;

/// Computes a digest of all files of all sources.
pub(super) fn compute(fetched: &BTreeMap<String, Fetched>) -> String {
    let mut hash = Sha256::new();
    for (source, files) in fetched {
        hash_bytes(&mut hash, source.as_bytes());
        hash_count(&mut hash, files.layers.len());
        for layer in &files.layers {
            hash_count(&mut hash, layer.len());
            for (path, bytes) in layer {
                hash_bytes(&mut hash, path.as_bytes());
                hash_bytes(&mut hash, bytes);
            }
        }
    }
    hex::encode(hash.finalize())
}

/// Hashes a part with its length, so that different lists of parts have different input.
fn hash_bytes(hash: &mut Sha256, bytes: &[u8]) {
    hash_count(hash, bytes.len());
    hash.update(bytes);
}

fn hash_count(hash: &mut Sha256, number: usize) {
    hash.update((number as u64).to_be_bytes());
}
