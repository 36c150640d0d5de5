//! Fingerprint: hash of the input files of a build.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::fetch::Fetched;

/// Computes a digest of all files of all sources.
pub(super) fn of(fetched: &BTreeMap<String, Fetched>) -> String {
    let mut hash = Sha256::new();
    for (source, files) in fetched {
        part(&mut hash, source.as_bytes());
        count(&mut hash, files.layers.len());
        for layer in &files.layers {
            count(&mut hash, layer.len());
            for (path, bytes) in layer {
                part(&mut hash, path.as_bytes());
                part(&mut hash, bytes);
            }
        }
    }
    hex::encode(hash.finalize())
}

/// Hashes a part with its length, so that different lists of parts have different input.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    count(hash, bytes.len());
    hash.update(bytes);
}

fn count(hash: &mut Sha256, number: usize) {
    hash.update((number as u64).to_be_bytes());
}
