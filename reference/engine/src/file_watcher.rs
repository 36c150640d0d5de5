//! File watcher.
//!
//! It polls modification times and sizes instead of using notifications of the system: polling
//! needs no library, and also detects files replaced by a link, as container platforms do, and
//! files on network file systems.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::GlobSet;
use tokio::task::JoinHandle;
use tracing::error;

/// Delay between two polls.
const PERIOD: Duration = Duration::from_millis(300);

/// Maximum nesting of directories, so that a link to a parent ends.
const MAX_FOLDERS: usize = 64;

/// The watched files.
#[derive(Debug, Clone)]
pub(super) struct Files {
    /// Files and directories.
    pub(super) paths: Vec<PathBuf>,
    /// Patterns of names that are ignored in directories.
    pub(super) ignored: GlobSet,
}

/// Result of a poll: the stamp of each file.
pub(super) type FileSnapshot = BTreeMap<PathBuf, FileStamp>;

/// Inode number of a file, its length, and its modification time in seconds and nanoseconds.
pub(super) type FileStamp = (u64, u64, i64, i64);

impl Files {
    /// Takes a snapshot of the files.
    pub(super) fn snapshot(&self) -> FileSnapshot {
        let mut snapshot = FileSnapshot::new();
        for path in &self.paths {
            self.add(&mut snapshot, path, 0);
        }
        snapshot
    }

    fn add(&self, snapshot: &mut FileSnapshot, path: &Path, depth: usize) {
        // Missing and unreadable files are reported when they are loaded.
        let Ok(metadata) = fs::metadata(path) else {
            return;
        };
        if !metadata.is_dir() {
            let times = (metadata.mtime(), metadata.mtime_nsec());
            let stamp = (metadata.ino(), metadata.len(), times.0, times.1);
            snapshot.insert(path.to_owned(), stamp);
            return;
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            if depth < MAX_FOLDERS && !self.ignored.is_match(entry.file_name()) {
                self.add(snapshot, &entry.path(), depth + 1);
            }
        }
    }
}

/// Task that watches files until it is dropped.
#[derive(Debug)]
pub struct Watcher(JoinHandle<()>);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watcher {
    /// Calls `changed`, which may block on the disk, whenever the snapshot of the files changes.
    pub(super) fn start(
        mut files: Files,
        mut seen: FileSnapshot,
        mut changed: impl FnMut() + Send + 'static,
    ) -> Self {
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(PERIOD).await;
                let outcome = tokio::task::spawn_blocking(move || {
                    let now = files.snapshot();
                    if now != seen {
                        changed();
                    }
                    (files, now, changed)
                });
                match outcome.await {
                    Ok(outcome) => (files, seen, changed) = outcome,
                    Err(failure) => {
                        error!(%failure, "files are not watched any more");
                        return;
                    }
                }
            }
        }))
    }
}
