//! Bundles: gzip-encoded tar archives.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Map, Value};

use crate::http_client::answer::BODY_LIMIT;

/// Maximum number of entries that are read from an archive.
const ENTRIES: usize = 10_000;

/// Builds a bundle of these files, by path. Strings are file contents, other values are JSON.
///
/// # Errors
/// An archive cannot contain one of the paths.
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
        added.map_err(|error| format!("invalid path `{path}` in a bundle: {error}"))?;
    }
    let whole = archive.into_inner().and_then(GzEncoder::finish);
    whole
        .map(Bytes::from)
        .map_err(|error: io::Error| format!("cannot build the bundle: {error}"))
}

/// Reads the files of a bundle by path, without a leading slash. JSON files become values, others
/// strings.
///
/// # Errors
/// The bytes are not an archive, contain a file twice, or are too large.
pub(super) fn open(bytes: &[u8]) -> Result<Value, String> {
    let failed = |error: io::Error| format!("invalid bundle: {error}");
    let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(BODY_LIMIT));
    let mut files = Map::new();
    for (number, entry) in archive.entries().map_err(failed)?.enumerate() {
        let mut entry = entry.map_err(failed)?;
        if number == ENTRIES {
            return Err(format!(
                "invalid bundle: it has more than {ENTRIES} entries"
            ));
        }
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.trim_start_matches("./").trim_start_matches('/');
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(failed)?;
        let json = path.ends_with(".json") || path.ends_with(".manifest");
        let content = match serde_json::from_slice(&content) {
            Ok(value) if json => value,
            _ => Value::String(String::from_utf8_lossy(&content).into_owned()),
        };
        if files.insert(path.to_owned(), content).is_some() {
            return Err(format!("invalid bundle: it contains `{path}` twice"));
        }
    }
    Ok(Value::Object(files))
}
