//! Build cache: record of the last written bundle, so that unchanged bundles are not rebuilt.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::builder::Access;
use crate::storage::Identity;
use crate::store::Claim;

/// Record of a written bundle. Records of older versions of this program lack some members.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// Digest of the bundle's archive.
    pub(super) archive: String,
    /// Digest of the definition of the bundle's destination.
    pub(super) place: String,
    /// Identity of the written object, as reported by the storage.
    pub(super) identity: Identity,
    /// Revision in the manifest of the bundle.
    #[serde(default)]
    pub(super) revision: String,
    /// Inputs that the bundle was built from, if they determine the result of a build.
    #[serde(default)]
    pub(super) origin: Option<Origin>,
}

/// Inputs that a bundle was built from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Digest of the program and its settings.
    pub(super) builder: String,
    /// Number of changes that affected the bundle until it was built.
    pub(super) wanted: i64,
    /// Digest of the stored inputs.
    pub(super) stored: String,
    /// Fingerprint of the files outside the database; empty when there are none.
    pub(super) files: String,
}

impl Record {
    /// Parses the record of a bundle; `None` when it was not written, or by a program with another
    /// format.
    pub(super) fn read(published: &str) -> Option<Self> {
        serde_json::from_str(published).ok()
    }

    /// Whether another record describes the same object at the same location.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.archive == other.archive
            && self.place == other.place
            && self.identity == other.identity
    }

    /// Whether the bundle is unchanged since the record, by its change count alone: every change
    /// that affects the bundle increases it.
    pub(super) fn is_current(&self, builder: &str, claim: &Claim) -> bool {
        self.origin.as_ref().is_some_and(|origin| {
            origin.files.is_empty() && origin.builder == builder && origin.wanted == claim.wanted
        })
    }

    /// Returns the fingerprint of the files outside the database that the bundle was built from, if
    /// the stored inputs are unchanged.
    pub(super) fn files(&self, builder: &str, stored: &str) -> Option<&str> {
        let origin = self.origin.as_ref()?;
        let is_same = origin.builder == builder && origin.stored == stored;
        is_same.then_some(origin.files.as_str())
    }
}

/// Computes the digest of the settings that determine, with the inputs, the result of a build.
pub(super) fn builder(access: &Access) -> String {
    digest(format!("{} {access:?}", env!("CARGO_PKG_VERSION")).as_bytes())
}

/// Computes the digest of bytes, in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
