//! Files of faults and variants: YAML lists of named entries.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// An unusable file of faults or variants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{folder}/{file}: {message}")]
pub struct FileError {
    folder: &'static str,
    file: String,
    message: String,
}

impl FileError {
    /// Creates the error for a file below a folder.
    pub(crate) fn new(folder: &'static str, file: impl Into<String>, message: String) -> Self {
        Self {
            folder,
            file: file.into(),
            message,
        }
    }
}

/// Reads the entries of one file. Each has its name at the key `name_key`. `path` is the file's
/// path below `folder`, without extension.
///
/// # Errors
/// Not a YAML list, an entry that `read` rejects, a repeated name.
pub(crate) fn entries<T>(
    folder: &'static str,
    name_key: &str,
    path: &str,
    text: &str,
    read: impl Fn(Value) -> Result<T, String>,
) -> Result<Vec<T>, FileError> {
    let failed = |message: String| FileError::new(folder, format!("{path}.yaml"), message);
    let items: Vec<Value> =
        serde_yaml::from_str(text).map_err(|error| failed(error.to_string()))?;
    let mut names = BTreeSet::new();
    let mut entries = Vec::with_capacity(items.len());
    for item in items {
        let name = item.get(name_key).cloned().unwrap_or_default().to_string();
        entries.push(read(item).map_err(|message| failed(format!("{name}: {message}")))?);
        if !names.insert(name.clone()) {
            return Err(failed(format!("duplicate name {name}")));
        }
    }
    Ok(entries)
}

/// Returns the path, without extension, and the contents of every YAML file below a directory.
///
/// # Errors
/// A file or a directory cannot be read.
pub(crate) fn texts_below(
    folder: &'static str,
    directory: &Path,
) -> Result<Vec<(String, String)>, FileError> {
    let mut files = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        let relative_path = next.strip_prefix(directory).unwrap_or(&next);
        let relative_path = relative_path.to_string_lossy().replace('\\', "/");
        let failed = |error: std::io::Error| {
            FileError::new(folder, relative_path.clone(), error.to_string())
        };
        if next.is_dir() {
            for entry in fs::read_dir(&next).map_err(failed)? {
                pending.push(entry.map_err(failed)?.path());
            }
        } else if let Some(path) = relative_path.strip_suffix(".yaml") {
            let text = fs::read_to_string(&next).map_err(failed)?;
            files.push((path.to_owned(), text));
        }
    }
    files.sort();
    Ok(files)
}
