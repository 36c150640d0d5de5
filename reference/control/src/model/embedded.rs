//! Embedded files: files in the definition of a source.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{ValidationError, limits};

/// Contents of files in base64, by path within the source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct EmbeddedFiles(BTreeMap<String, String>);

impl EmbeddedFiles {
    /// Returns the decoded files with their paths.
    ///
    /// # Errors
    /// When a path leads out of the source, or a file is not valid base64.
    pub(crate) fn read(&self) -> Result<Vec<(String, Vec<u8>)>, ValidationError> {
        let files = self.0.iter().map(|(path, text)| {
            let is_normal = |segment: &str| !matches!(segment, "" | "." | "..");
            if path.contains('\0') || !path.split('/').all(is_normal) {
                let message = "a path is relative, and holds neither `.` nor `..`";
                return Err(ValidationError::new(message).under(path));
            }
            limits::path(path).map_err(|invalid| invalid.under("path"))?;
            let bytes = STANDARD.decode(text);
            let bytes = bytes
                .map_err(|error| ValidationError::new(format!("no base64: {error}")).under(path));
            Ok((path.clone(), bytes?))
        });
        files.collect()
    }
}
