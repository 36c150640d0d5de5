//! What a built bundle holds.

use std::error::Error;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;
use tar::Archive;

/// The document of data in an archive that must be whole.
///
/// # Errors
/// When the archive is cut off or has no data.
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
