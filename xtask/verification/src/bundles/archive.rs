//! Archives of bundles: the content of built ones, and new ones to serve.

use std::error::Error;
use std::io::Read;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use tar::{Archive, Builder, Header};

/// Returns the data document in an archive; the archive must be complete.
///
/// # Errors
/// When the archive is truncated or has no data.
pub(crate) fn data(bundle: &[u8]) -> Result<Value, Box<dyn Error>> {
    let mut archive = Archive::new(GzDecoder::new(bundle));
    let mut data = None;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        if entry.path()?.ends_with("data.json") {
            data = Some(serde_json::from_slice(&content)?);
        }
    }
    data.ok_or_else(|| "the archive has no data.json".into())
}

/// Builds an archive that contains files.
///
/// # Errors
/// When compression fails.
pub(crate) fn packed(files: &[(&str, &str)]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = Header::new_gnu();
        header.set_size(text.len().try_into()?);
        header.set_mode(0o600);
        archive.append_data(&mut header, path, text.as_bytes())?;
    }
    Ok(archive.into_inner()?.finish()?)
}
