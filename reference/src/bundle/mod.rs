//! Bundles: policies and data in one archive or directory, with a manifest that says which part of
//! the documents is theirs. Everything here is read from whoever sends it, so nothing is taken
//! unchecked, and nothing here reaches the network or the engine.

use std::path::Path;

use rego::{Module, Value, Version};

mod archive;
mod digest;
mod directory;
mod error;
mod manifest;
mod merge;
mod patch;
mod read;
mod roots;
mod signature;
mod versions;

pub use error::BundleError;
pub use manifest::Manifest;
pub(crate) use merge::merge;
pub use patch::{Change, Operation};
pub(crate) use roots::ESCAPED;
pub use roots::Roots;
pub use signature::{Key, Verification};
pub(crate) use versions::Versions;

/// A bundle, read and checked by itself.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// What it says about itself.
    pub manifest: Manifest,
    /// What it brings.
    pub content: Content,
    /// The version under which a server sent it; empty when there is none.
    pub etag: String,
}

/// What a bundle brings.
#[derive(Debug, Clone)]
pub enum Content {
    /// Everything below its roots.
    Snapshot {
        /// The root document with what is below the roots. INVARIANT: an object.
        documents: Value,
        /// The policies in the order of the archive.
        policies: Vec<Policy>,
    },
    /// Changes of the data that is there, in their order.
    Delta(Vec<Operation>),
}

/// A policy of a bundle.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The id: the bundle's name, and the path in the bundle.
    pub id: String,
    /// The parsed text.
    pub module: Module,
}

/// How much a bundle may hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The bytes of one file.
    pub file: u64,
    /// The bytes of an archive after decompression, or of all files of a directory.
    pub total: u64,
    /// The files and directories.
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
    /// The limits for files of at most so many bytes.
    pub fn of_file(bytes: u64) -> Self {
        let usual = Self::default();
        Self {
            file: bytes,
            total: usual.total.max(bytes.saturating_mul(2)),
            ..usual
        }
    }
}

impl Bundle {
    /// Reads a bundle from a gzip-compressed tar archive, whose names of directories may be
    /// percent-encoded. Policies are of `version` unless the
    /// manifest says another. Without `verification` a signed bundle is refused.
    ///
    /// # Errors
    /// When the archive is no such archive, is larger than the limits, holds links or names that
    /// lead out of it, when its signature or its manifest is wrong, or when a policy or a document
    /// in it cannot be parsed or lies outside of the roots.
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

    /// Reads a bundle from disk: an archive, or a directory that is laid out like one, without
    /// the files and directories whose names are `ignored`. Names of directories are plain unless a
    /// root is percent-encoded, and not as in [`Bundle::read`].
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

    /// What kind of bundle it is, as status reports name it: `snapshot` or `delta`.
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
    /// Its path in the bundle, without a slash before it. INVARIANT: no segment is empty, `.` or
    /// `..`.
    path: String,
    bytes: Vec<u8>,
}
