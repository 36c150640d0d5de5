//! Build cache: what is known of the last written bundle, so that unchanged bundles are not
//! rebuilt.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::control::builder::Access;
use crate::control::destination::Identity;
use crate::control::store::Claim;

/// What is known of a bundle that was written. What older programs noted lacks members.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// The digest of the archive.
    pub(super) archive: String,
    /// The digest of the definition of its place.
    pub(super) place: String,
    /// What the storage said of it.
    pub(super) identity: Identity,
    /// The revision in its manifest.
    #[serde(default)]
    pub(super) revision: String,
    /// What it was made from, where that tells what a build comes to.
    #[serde(default)]
    pub(super) origin: Option<Origin>,
}

/// What a bundle was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The digest of the program and its settings.
    pub(super) builder: String,
    /// The changes that concerned the bundle until then.
    pub(super) wanted: i64,
    /// The digest of what the database held.
    pub(super) stored: String,
    /// The fingerprint of the other file_selection; empty when there are none.
    pub(super) files: String,
}

impl Record {
    /// What is noted of a bundle; `None` when it was not written, or by a program that noted
    /// something else.
    pub(super) fn read(published: &str) -> Option<Self> {
        serde_json::from_str(published).ok()
    }

    /// Whether another one is of the same object in the same place.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.archive == other.archive
            && self.place == other.place
            && self.identity == other.identity
    }

    /// Whether the bundle is as it was when this was noted, by the count of its changes alone:
    /// whatever concerns it grows that.
    pub(super) fn is_current(&self, builder: &str, claim: &Claim) -> bool {
        self.origin.as_ref().is_some_and(|origin| {
            origin.files.is_empty() && origin.builder == builder && origin.wanted == claim.wanted
        })
    }

    /// The fingerprint of the files that the bundle was made from beside what the database held,
    /// if it holds that still.
    pub(super) fn files(&self, builder: &str, stored: &str) -> Option<&str> {
        let origin = self.origin.as_ref()?;
        let is_same = origin.builder == builder && origin.stored == stored;
        is_same.then_some(origin.files.as_str())
    }
}

/// The digest of what decides, beside its inputs, what a bundle comes to.
pub(super) fn builder(access: &Access) -> String {
    digest(format!("{} {access:?}", env!("CARGO_PKG_VERSION")).as_bytes())
}

/// A digest of bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
