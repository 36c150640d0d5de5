//! Disk buffer of the section `decision_logs`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The most bytes of the files: ten minutes of 5,000 decisions a second with 1.4 KB each.
const USUAL_BYTES: u64 = 4 << 30;

/// Where the files are below the folder in which bundles are kept, unless the configuration says
/// otherwise.
const FOLDER: &str = "decision_logs";

/// A segment has at most this part of all bytes, so that little is dropped at once …
const SEGMENTS: u64 = 16;

/// … and at most so many bytes, so that it is soon read again after a start.
const MAX_SEGMENT: u64 = 16 << 20;

/// What `reporting` says about the buffer on disk.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct RawDisk {
    pub(super) directory: Option<PathBuf>,
    pub(super) bytes: Option<u64>,
    pub(super) sync: Option<BufferSync>,
    pub(super) full: Option<BufferFull>,
}

/// A buffer on disk.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct Disk {
    /// The folder of its files, which no other process has.
    pub(in crate::engine) directory: PathBuf,
    /// The most bytes of all files.
    pub(in crate::engine) bytes: u64,
    pub(in crate::engine) sync: BufferSync,
    pub(in crate::engine) full: BufferFull,
}

/// When what was written is made to survive a crash of the machine. One of the process it always
/// survives.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::engine) enum BufferSync {
    /// Before the decision is answered.
    #[default]
    Always,
    /// Ten times a second.
    Interval,
    /// When the system does so by itself.
    Never,
}

/// What is done where there is no room for a decision.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::engine) enum BufferFull {
    /// The oldest decisions go.
    #[default]
    Drop,
    /// The decision is not answered.
    Refuse,
}

impl RawDisk {
    /// The buffer of an engine that keeps its bundles in a folder.
    pub(super) fn disk(&self, persistence: &Path) -> Result<Disk, String> {
        let bytes = self.bytes.unwrap_or(USUAL_BYTES);
        if bytes == 0 {
            return Err("`buffer_disk_size_limit_bytes` must be greater than 0".to_owned());
        }
        let directory = match &self.directory {
            Some(directory) if directory.as_os_str().is_empty() => {
                return Err("`buffer_directory` must not be empty".to_owned());
            }
            Some(directory) => directory.clone(),
            None => persistence.join(FOLDER),
        };
        Ok(Disk {
            directory,
            bytes,
            sync: self.sync.unwrap_or_default(),
            full: self.full.unwrap_or_default(),
        })
    }

    /// The first of its keys that is given.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let keys = [
            ("buffer_directory", self.directory.is_some()),
            ("buffer_disk_size_limit_bytes", self.bytes.is_some()),
            ("buffer_sync", self.sync.is_some()),
            ("buffer_full", self.full.is_some()),
        ];
        keys.into_iter()
            .find_map(|(key, given)| given.then_some(key))
    }
}

impl Disk {
    /// The most bytes of a segment, unless its only event has more.
    pub(in crate::engine) fn segment(&self) -> u64 {
        (self.bytes / SEGMENTS).min(MAX_SEGMENT)
    }
}
