//! Bundles: gzip-encoded tar archives.

use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// The bundle of these files, by path: text as it stands, other values as JSON.
///
/// # Errors
/// A path that an archive cannot hold.
pub(super) fn build(files: &BTreeMap<String, Value>) -> Result<Bytes, String> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, content) in files {
        let text = match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        let added = archive.append_data(&mut header, path, text.as_bytes());
        added.map_err(|error| format!("`{path}` is no path of a bundle: {error}"))?;
    }
    let whole = archive.into_inner().and_then(GzEncoder::finish);
    whole
        .map(Bytes::from)
        .map_err(|error: io::Error| format!("no bundle: {error}"))
}
