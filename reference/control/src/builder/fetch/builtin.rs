//! Built-in sources: directories of libraries that the operator provides.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::{BuildError, directory};
use crate::builder::file_selection::{FileQuota, Files, Selection};

/// Reads the files of a library: the folder with its name in the first of these folders that has
/// one. A name may have several segments, and colons. In file names `#` represents a colon, as in
/// the libraries that come with OPA Control Plane.
///
/// # Errors
/// When the library does not exist, a link in it leads out of its root, or a file cannot be read or
/// exceeds the quota.
pub(super) fn read(
    name: &str,
    roots: &[PathBuf],
    quota: &mut FileQuota,
    cancelled: &AtomicBool,
) -> Result<Files, BuildError> {
    let found = roots
        .iter()
        .find_map(|root| Some((folder(name, root)?, root)));
    let Some((folder, root)) = found else {
        let message = format!("there is no built-in source `{name}`");
        return Err(BuildError::config(message));
    };
    let only_root = std::slice::from_ref(root);
    let read = directory::read(folder, only_root, &Selection::default(), quota, cancelled);
    let files = read.map_err(|failure| failure.within(&format!("built-in source `{name}`")))?;
    let files = files.into_iter();
    Ok(files
        .map(|(path, bytes)| (path.replace('#', ":"), bytes))
        .collect())
}

/// Returns the folder of a library below a root, if the name is a plain path to a folder.
fn folder(name: &str, root: &Path) -> Option<PathBuf> {
    let is_normal = |segment: &str| !matches!(segment, "" | "." | "..");
    let is_valid = name.split('/').all(is_normal) && !name.contains('\0');
    let path = is_valid.then(|| root.join(name))?;
    directory::below(&path, &[root.to_owned()]).filter(|found| found.is_dir())
}
