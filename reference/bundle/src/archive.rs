//! Gzip-compressed tar archives of bundles.

use std::collections::HashSet;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use rego::value::MAX_DEPTH;
use tar::{Archive, EntryType};

use super::{BundleError, File, Limits};

/// Returns all files of an archive, in archive order.
///
/// # Errors
/// When the archive is incomplete, exceeds the limits, or contains anything but files and
/// directories with valid names.
pub(super) fn files(archive: &[u8], limits: &Limits) -> Result<Vec<File>, BundleError> {
    let mut reader = Bounded {
        reader: MultiGzDecoder::new(archive),
        left: limits.total,
        limit: limits.total,
    };
    let files = entries(&mut Archive::new(&mut reader), limits)?;
    // The bytes after the last file, above all the checksum, must be valid, too.
    io::copy(&mut reader, &mut io::sink()).map_err(broken)?;
    Ok(files)
}

fn broken(failure: io::Error) -> BundleError {
    BundleError::new(format!("the archive cannot be read: {failure}"))
}

fn entries<R: Read>(archive: &mut Archive<R>, limits: &Limits) -> Result<Vec<File>, BundleError> {
    let mut files = Vec::new();
    let mut names = HashSet::new();
    for (at, entry) in archive.entries().map_err(broken)?.enumerate() {
        let mut entry = entry.map_err(broken)?;
        if at >= limits.entries {
            let message = format!("the archive holds more than {} entries", limits.entries);
            return Err(BundleError::new(message));
        }
        let name = entry.path_bytes().into_owned();
        let name = String::from_utf8(name).map_err(|failure| {
            let name = String::from_utf8_lossy(failure.as_bytes());
            BundleError::of_file(&name, "the name is not UTF-8")
        })?;
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            // Applies to the whole archive, such as the commit that it was created from.
            EntryType::XGlobalHeader => continue,
            EntryType::Directory => {
                check_name(&name)?;
                continue;
            }
            EntryType::Link | EntryType::Symlink => {
                return Err(BundleError::of_file(&name, "links are not followed"));
            }
            _ => return Err(BundleError::of_file(&name, "neither file nor directory")),
        }
        let path = check_name(&name)?;
        let size = entry.size();
        if size > limits.file {
            return Err(too_large(&path, size, limits));
        }
        if path.is_empty() {
            return Err(BundleError::of_file(&name, "the name is empty"));
        }
        if !names.insert(path.clone()) {
            return Err(BundleError::of_file(
                &path,
                "the archive contains this file twice",
            ));
        }
        // The size is only a claim of the archive, so no memory is reserved for it in advance.
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(broken)?;
        if bytes.len() as u64 != size {
            return Err(BundleError::of_file(
                &path,
                "the archive ends in the middle of this file",
            ));
        }
        files.push(File { path, bytes });
    }
    Ok(files)
}

/// Converts a name in an archive to a path in the bundle, unless it leads out of the bundle.
pub(super) fn check_name(name: &str) -> Result<String, BundleError> {
    let segments = name
        .split('/')
        .filter(|segment| !matches!(*segment, "" | "."));
    let segments: Vec<_> = segments.collect();
    if segments.contains(&"..") {
        return Err(BundleError::of_file(
            name,
            "the name leads out of the bundle",
        ));
    }
    if segments.len() > MAX_DEPTH {
        let message = format!("the name has more than {MAX_DEPTH} segments");
        return Err(BundleError::of_file(name, message));
    }
    Ok(segments.join("/"))
}

pub(super) fn too_large(path: &str, size: u64, limits: &Limits) -> BundleError {
    let message = format!("{size} bytes are more than the limit of {}", limits.file);
    BundleError::of_file(path, message)
}

/// Reader that fails after a number of bytes, so that a small archive cannot expand without bound.
struct Bounded<R> {
    reader: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let message = format!("its contents take more than {} bytes", self.limit);
                return Err(io::Error::other(message));
            }
        }
        Ok(read)
    }
}
