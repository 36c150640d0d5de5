//! Stored object of a bundle.

use serde::{Deserialize, Serialize};

/// Object at the destination of a bundle, compared with the archive that should be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredObject {
    /// The archive.
    Same(Identity),
    /// Another object.
    Other(Identity),
    /// No object.
    Nothing,
    /// Unknown: the credentials may only write, or the storage does not support such requests.
    Unknown,
}

/// Metadata that a storage reports of an object, to identify its content. Empty for files, which
/// are always read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Identity {
    pub(super) e_tag: Option<String>,
    /// Version or generation.
    pub(super) version: Option<String>,
    /// Time of the last change, in milliseconds since 1970.
    pub(super) modified: Option<i64>,
    /// Size in bytes.
    pub(super) size: u64,
}
