//! Bundles in directories.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use globset::GlobSet;

use super::archive::{self, check_name, too_large};
use super::{BundleError, File, Limits};

/// Returns all files at a path: those in an archive, or those of a directory and its
/// subdirectories, sorted by name. Links are not followed.
///
/// # Errors
/// When something cannot be read, is larger than the limits, or has a name that is not UTF-8.
pub(super) fn files(
    path: &Path,
    limits: &Limits,
    ignored: &GlobSet,
) -> Result<Vec<File>, BundleError> {
    let metadata = fs::metadata(path).map_err(|failure| unreadable(path, &failure))?;
    if metadata.is_file() {
        let archive = fs::read(path).map_err(|failure| unreadable(path, &failure))?;
        return archive::files(&archive, limits);
    }
    let mut found = Collected {
        files: Vec::new(),
        entries: 0,
        left: limits.total,
        limits,
        ignored,
    };
    found.directory(path, "")?;
    Ok(found.files)
}

fn unreadable(path: &Path, failure: &io::Error) -> BundleError {
    BundleError::new(format!("`{}` cannot be read: {failure}", path.display()))
}

/// Files collected so far.
struct Collected<'l> {
    files: Vec<File>,
    entries: usize,
    /// Number of bytes that the files not yet collected may have in total.
    left: u64,
    limits: &'l Limits,
    ignored: &'l GlobSet,
}

impl Collected<'_> {
    fn directory(&mut self, path: &Path, inner: &str) -> Result<(), BundleError> {
        let entries = fs::read_dir(path).map_err(|failure| unreadable(path, &failure))?;
        let entries: Result<Vec<_>, _> = entries.take(self.limits.entries + 1).collect();
        let mut entries = entries.map_err(|failure| unreadable(path, &failure))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        self.entries += entries.len();
        if self.entries > self.limits.entries {
            let message = format!("there are more than {} entries", self.limits.entries);
            return Err(BundleError::new(message));
        }
        for entry in entries {
            if self.ignored.is_match(entry.file_name()) {
                continue;
            }
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                let message = format!("the name of `{}` is not UTF-8", path.display());
                return Err(BundleError::new(message));
            };
            let inner = check_name(&format!("{inner}/{name}"))?;
            let kind = entry.file_type();
            let kind = kind.map_err(|failure| unreadable(&path, &failure))?;
            if kind.is_dir() {
                self.directory(&path, &inner)?;
            } else if kind.is_file() {
                self.file(&path, inner)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, inner: String) -> Result<(), BundleError> {
        let limit = self.limits.file.min(self.left);
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|failure| unreadable(path, &failure))?;
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|failure| unreadable(path, &failure))?;
        let size = bytes.len() as u64;
        if size > self.limits.file {
            return Err(too_large(&inner, size, self.limits));
        }
        match self.left.checked_sub(size) {
            Some(left) => self.left = left,
            None => {
                let message = format!("the files take more than {} bytes", self.limits.total);
                return Err(BundleError::new(message));
            }
        }
        self.files.push(File { path: inner, bytes });
        Ok(())
    }
}
