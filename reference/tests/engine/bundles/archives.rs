//! Archives for tests, including malformed ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use reference::bundle::{Bundle, BundleError, Limits};
use rego::Version;
use tar::{EntryType, Header};

/// Entry of an archive: its name, type and content.
pub(super) type Entry<'e> = (&'e str, EntryType, &'e [u8]);

/// Files as pairs of a name and a content.
pub(super) type Files<'f> = &'f [(&'f str, &'f str)];

/// Creates a compressed archive of files.
pub(super) fn archive(files: Files<'_>) -> Vec<u8> {
    let files = files.iter().map(|(name, text)| file(name, text));
    compressed(&tar_of(&files.collect::<Vec<_>>()))
}

/// Returns the entry of a file.
pub(super) fn file<'e>(name: &'e str, text: &'e str) -> Entry<'e> {
    (name, EntryType::Regular, text.as_bytes())
}

/// Creates an uncompressed archive of entries. A link's target is its own name.
pub(super) fn tar_of(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        // The library refuses some names, so the name is written to the header directly.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        if let Err(failure) = builder.append(&header, *content) {
            panic!("{name}: {failure}");
        }
    }
    match builder.into_inner() {
        Ok(bytes) => bytes,
        Err(failure) => panic!("{failure}"),
    }
}

/// Compresses bytes with gzip.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    match encoder.write_all(bytes).and_then(|()| encoder.finish()) {
        Ok(bytes) => bytes,
        Err(failure) => panic!("{failure}"),
    }
}

/// Reads an archive as the bundle `b`, with the default limits.
pub(super) fn read(archive: &[u8]) -> Result<Bundle, BundleError> {
    Bundle::read(archive, "b", Version::V1, &Limits::default(), None)
}

/// Creates a bundle from files.
#[track_caller]
pub(super) fn bundle(name: &str, files: Files<'_>) -> Bundle {
    match Bundle::read(&archive(files), name, Version::V1, &Limits::default(), None) {
        Ok(bundle) => bundle,
        Err(error) => panic!("{name}: {}", error.in_full()),
    }
}
