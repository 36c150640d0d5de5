//! Segments: files named by the number of their first record.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What the names of segments end with.
const EXTENSION: &str = "events";

/// Only the owner reads what was decided.
const MODE: u32 = 0o600;

/// No spool ever comes so far, so that there is always a next number.
const MAX_NUMBER: u64 = u64::MAX / 2;

/// A file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    /// The number of its first record.
    pub(super) first: u64,
    /// The bytes of its records.
    pub(super) length: u64,
}

/// Where a segment lies.
pub(super) fn path(directory: &Path, first: u64) -> PathBuf {
    // As many digits as any number has, so that the names sort like the numbers.
    directory.join(format!("{first:020}.{EXTENSION}"))
}

/// The segments in a directory, the oldest first. Other files are left alone.
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

/// Makes the file of a segment, which is empty.
pub(super) fn create(directory: &Path, first: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    own(options.write(true).create(true).truncate(true)).open(path(directory, first))
}

/// Removes a segment, if it is still there.
pub(super) fn remove(directory: &Path, first: u64) {
    let path = path(directory, first);
    // Whoever still reads it would keep its room on the disk.
    let emptied = OpenOptions::new().write(true).truncate(true).open(&path);
    if let Err(why) = emptied.and_then(|_| fs::remove_file(&path))
        && why.kind() != io::ErrorKind::NotFound
    {
        let file = path.display();
        tracing::warn!(%file, %why, "a file of the decision log cannot be removed");
    }
}

/// Options for files that only the owner reads.
pub(super) fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(MODE)
}

/// The number of the first record of a segment with this name.
fn number(name: &OsStr) -> Option<u64> {
    let digits = name.to_str()?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    let plain = digits.len() == 20 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| plain)?;
    (number <= MAX_NUMBER).then_some(number)
}
