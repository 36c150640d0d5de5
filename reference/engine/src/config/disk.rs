//! Disk buffer of the section `decision_logs`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Default maximum bytes of the buffer: ten minutes of 5,000 decisions per second with 1.4 KB each.
const DEFAULT_BYTES: u64 = 4 << 30;

/// Default directory of the buffer's files, below the persistence directory.
const FOLDER: &str = "decision_logs";

/// Divisor of the size of the buffer that yields the maximum size of a segment. A full buffer then
/// drops little at once.
const SEGMENTS: u64 = 16;

/// Maximum bytes of a segment in a buffer of any size, so that it is reread quickly after a start.
const MAX_SEGMENT: u64 = 16 << 20;

/// Settings of the disk buffer in `reporting`.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct RawDisk {
    pub(super) directory: Option<PathBuf>,
    pub(super) bytes: Option<u64>,
    pub(super) sync: Option<BufferSync>,
    pub(super) full: Option<BufferFull>,
}

/// Buffer on disk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disk {
    /// Directory of the buffer's files, used by no other process.
    pub(crate) directory: PathBuf,
    /// Maximum bytes of all files of the buffer.
    pub(crate) bytes: u64,
    pub(crate) sync: BufferSync,
    pub(crate) full: BufferFull,
}

/// Time at which writes are made durable against a crash of the machine. They always survive a
/// crash of the process.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BufferSync {
    /// Before the response with the decision is sent.
    #[default]
    Always,
    /// Ten times per second.
    Interval,
    /// When the operating system writes them back.
    Never,
}

/// Policy when there is no space for a decision.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BufferFull {
    /// Drops the oldest decisions.
    #[default]
    Drop,
    /// Refuses the request whose decision cannot be stored.
    Refuse,
}

impl RawDisk {
    /// Disk buffer of an engine with this persistence directory.
    pub(super) fn disk(&self, persistence: &Path) -> Result<Disk, String> {
        let bytes = self.bytes.unwrap_or(DEFAULT_BYTES);
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

    /// Configuration key of the first member that is set.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let keys = [
            ("buffer_directory", self.directory.is_some()),
            ("buffer_disk_size_limit_bytes", self.bytes.is_some()),
            ("buffer_sync", self.sync.is_some()),
            ("buffer_full", self.full.is_some()),
        ];
        keys.into_iter()
            .find_map(|(key, is_set)| is_set.then_some(key))
    }
}

impl Disk {
    /// Maximum bytes of a segment, unless its only event is larger.
    pub(crate) fn segment(&self) -> u64 {
        (self.bytes / SEGMENTS).min(MAX_SEGMENT)
    }
}
