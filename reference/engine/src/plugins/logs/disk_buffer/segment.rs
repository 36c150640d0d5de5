//! Segments: files named by the number of their first record.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// File name extension of segments.
const EXTENSION: &str = "events";

/// Mode of segment files: only the owner may read decisions.
const MODE: u32 = 0o600;

/// Upper limit of record numbers, so that there is always a next number.
const MAX_NUMBER: u64 = u64::MAX / 2;

/// A file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    /// Number of its first record.
    pub(super) first: u64,
    /// Bytes of its records.
    pub(super) length: u64,
}

/// Path of the segment whose first record has the number `first`.
pub(super) fn path(directory: &Path, first: u64) -> PathBuf {
    // Padded to the maximum number of digits, so that names sort like numbers.
    directory.join(format!("{first:020}.{EXTENSION}"))
}

/// Lists the segments in a directory, oldest first. Other files are ignored.
pub(super) fn list(directory: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let Some(first) = number(&entry.file_name()) {
            let length = entry.metadata()?.len();
            segments.push(Segment { first, length });
        }
    }
    segments.sort_unstable();
    Ok(segments)
}

/// Creates the empty file of a segment.
pub(super) fn create(directory: &Path, first: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    own(options.write(true).create(true).truncate(true)).open(path(directory, first))
}

/// Removes a segment, if it still exists.
pub(super) fn remove(directory: &Path, first: u64) {
    let path = path(directory, first);
    // Truncates the file first, because a reader that has it open would keep the space occupied.
    let emptied = OpenOptions::new().write(true).truncate(true).open(&path);
    if let Err(error) = emptied.and_then(|_| fs::remove_file(&path))
        && error.kind() != io::ErrorKind::NotFound
    {
        let file = path.display();
        tracing::warn!(%file, why = %error, "a file of the decision log cannot be removed");
    }
}

/// Sets the mode of files that only the owner may read.
pub(super) fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(MODE)
}

/// Parses the number of the first record from the name of a segment.
fn number(name: &OsStr) -> Option<u64> {
    let digits = name.to_str()?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    let is_numeric = digits.len() == 20 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_numeric)?;
    (number <= MAX_NUMBER).then_some(number)
}
