//! Bundles: policies and data in one archive or directory, with a manifest that states which
//! documents the bundle owns. All input here is untrusted, so everything is validated. Nothing here
//! accesses the network or the engine.

use std::path::Path;

use rego::{Module, Value, Version};

mod archive;
pub mod diagnostic;
mod digest;
mod directory;
mod error;
mod manifest;
pub mod merge;
mod patch;
mod read;
mod roots;
mod signature;
mod versions;

pub use error::BundleError;
pub use manifest::Manifest;
pub use merge::merge;
pub use patch::{Change, Operation};
pub use roots::ESCAPED;
pub use roots::Roots;
pub use signature::{Key, Verification};
pub use versions::Versions;

/// A bundle, parsed and validated on its own.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// Manifest of the bundle.
    pub manifest: Manifest,
    /// Policies and data, or patches.
    pub content: Content,
    /// `ETag` with which a server sent the bundle; empty when there is none.
    pub etag: String,
}

/// Content of a bundle.
#[derive(Debug, Clone)]
pub enum Content {
    /// All documents below the roots of the bundle, and its policies.
    Snapshot {
        /// Root document with everything below the roots. INVARIANT: an object.
        documents: Value,
        /// Policies in the order of the archive.
        policies: Vec<Policy>,
    },
    /// Changes to the data of the active bundle, in order.
    Delta(Vec<Operation>),
}

/// A policy of a bundle.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Id: the bundle's name and the path of the file in the bundle.
    pub id: String,
    /// Parsed module.
    pub module: Module,
}

/// Size limits of a bundle.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum bytes of one file.
    pub file: u64,
    /// Maximum bytes of an archive after decompression, or of all files of a directory.
    pub total: u64,
    /// Maximum number of files and directories.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file: 1 << 30,
            total: 2 << 30,
            entries: 100_000,
        }
    }
}

impl Limits {
    /// Default limits, except that a file may have `bytes` bytes, and all files at least twice as
    /// many.
    pub fn of_file(bytes: u64) -> Self {
        let defaults = Self::default();
        Self {
            file: bytes,
            total: defaults.total.max(bytes.saturating_mul(2)),
            ..defaults
        }
    }
}

impl Bundle {
    /// Reads a bundle from a gzip-compressed tar archive, whose directory names may be
    /// percent-encoded. Policies are of the Rego version `version` unless the manifest specifies
    /// another. Without `verification` a signed bundle is refused.
    ///
    /// # Errors
    /// When the archive is malformed, exceeds the limits, contains links or names that lead out of
    /// it, when its signature or its manifest is invalid, or when a policy or a document in it
    /// cannot be parsed or is outside of the roots.
    pub fn read(
        archive: &[u8],
        name: &str,
        version: Version,
        limits: &Limits,
        verification: Option<&Verification>,
    ) -> Result<Self, BundleError> {
        read::bundle(
            archive::files(archive, limits)?,
            name,
            version,
            verification,
            read::Folders::Encoded,
        )
    }

    /// Reads a bundle from disk: an archive, or a directory with the same layout, without the files
    /// and directories whose names are `ignored`. Unlike in [`Bundle::read`], directory names are
    /// plain unless a root is percent-encoded.
    ///
    /// # Errors
    /// As [`Bundle::read`], and when something cannot be read.
    pub fn open(
        path: &Path,
        name: &str,
        version: Version,
        limits: &Limits,
        verification: Option<&Verification>,
        ignored: &globset::GlobSet,
    ) -> Result<Self, BundleError> {
        let files = directory::files(path, limits, ignored)?;
        let folders = read::Folders::Plain;
        read::bundle(files, name, version, verification, folders)
    }

    /// Kind of the bundle in status reports: `snapshot` or `delta`.
    pub fn kind(&self) -> &'static str {
        match self.content {
            Content::Snapshot { .. } => "snapshot",
            Content::Delta(_) => "delta",
        }
    }
}

/// A file of a bundle.
#[derive(Debug)]
struct File {
    /// Path in the bundle, without a leading slash. INVARIANT: no segment is empty, `.` or `..`.
    path: String,
    bytes: Vec<u8>,
}
