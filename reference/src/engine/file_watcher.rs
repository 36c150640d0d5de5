//! File watcher.
//!
//! It asks for the times and sizes of the files rather than to be told by the system: that needs no
//! library, notices also what is replaced by a link, as container platforms do, and what lies on
//! another machine.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::GlobSet;
use tokio::task::JoinHandle;
use tracing::error;

/// The pause between two looks.
const PERIOD: Duration = Duration::from_millis(300);

/// Directories may be nested this deep, so that a link to a parent ends.
const MAX_FOLDERS: usize = 64;

/// The files that are looked at.
#[derive(Debug, Clone)]
pub(super) struct Files {
    /// Files and directories.
    pub(super) paths: Vec<PathBuf>,
    /// The names in directories that mean nothing.
    pub(super) ignored: GlobSet,
}

/// What a look finds: what tells the state of each file from others.
pub(super) type FileSnapshot = BTreeMap<PathBuf, FileStamp>;

/// The number of a file, its length, and when it was changed, in seconds and nanoseconds.
pub(super) type FileStamp = (u64, u64, i64, i64);

impl Files {
    /// The files as they are now.
    pub(super) fn look(&self) -> FileSnapshot {
        let mut look = FileSnapshot::new();
        for path in &self.paths {
            self.add(&mut look, path, 0);
        }
        look
    }

    fn add(&self, look: &mut FileSnapshot, path: &Path, depth: usize) {
        // What is not there, or cannot be read, is found missing by whoever loads it.
        let Ok(metadata) = fs::metadata(path) else {
            return;
        };
        if !metadata.is_dir() {
            let times = (metadata.mtime(), metadata.mtime_nsec());
            let stamp = (metadata.ino(), metadata.len(), times.0, times.1);
            look.insert(path.to_owned(), stamp);
            return;
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            if depth < MAX_FOLDERS && !self.ignored.is_match(entry.file_name()) {
                self.add(look, &entry.path(), depth + 1);
            }
        }
    }
}

/// Looks at files until it is dropped.
#[derive(Debug)]
pub(crate) struct Watcher(JoinHandle<()>);

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watcher {
    /// Does something whenever the files are not as they were seen last. It may wait for the disk.
    pub(super) fn start(
        mut files: Files,
        mut seen: FileSnapshot,
        mut changed: impl FnMut() + Send + 'static,
    ) -> Self {
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(PERIOD).await;
                let looked = tokio::task::spawn_blocking(move || {
                    let now = files.look();
                    if now != seen {
                        changed();
                    }
                    (files, now, changed)
                });
                match looked.await {
                    Ok(looked) => (files, seen, changed) = looked,
                    Err(failure) => {
                        error!(%failure, "files are not watched any more");
                        return;
                    }
                }
            }
        }))
    }
}
