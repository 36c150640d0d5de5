//! Files of a commit.

use std::sync::atomic::AtomicBool;

use gix::objs::tree::EntryKind;
use gix::{ObjectId, Tree};

use super::{BuildError, Steps, failed};
use crate::builder::file_selection::{FileQuota, Files, Selection};

/// Reads the files of a folder, and prefixes their paths. Returns the submodules that may contain
/// selected files: their paths without and with the prefix, and their commits.
///
/// # Errors
/// When the folder does not exist, a file is a link, a limit is exceeded, or the read is cancelled.
pub(super) fn read(
    root: &Tree<'_>,
    (path, root_prefix): (&str, &str),
    selection: &Selection,
    quota: &mut FileQuota,
    files: &mut Files,
    cancelled: &AtomicBool,
) -> Result<Vec<(String, String, ObjectId)>, BuildError> {
    let repository = root.repo;
    let start = match path {
        "" => root.id,
        path => {
            let entry = root.lookup_entry_by_path(path).map_err(failed)?;
            let folder = entry.filter(|entry| entry.mode().is_tree());
            let missing = || BuildError::sync(format!("git: the commit has no folder `{path}`"));
            folder.ok_or_else(missing)?.object_id()
        }
    };
    let mut submodules = Vec::new();
    let mut steps = Steps::new(quota.entries, cancelled);
    let mut pending = vec![(start, root_prefix.to_owned(), 0)];
    while let Some((id, prefix, depth)) = pending.pop() {
        if depth > quota.depth {
            return Err(BuildError::sync(format!(
                "git: `{prefix}` is nested too deep"
            )));
        }
        let tree = repository.find_tree(id).map_err(failed)?;
        for entry in tree.iter() {
            steps.count()?;
            let entry = entry.map_err(failed)?;
            // Non-UTF-8 names are never policies or data; a slash in a name is invalid.
            let Ok(name) = std::str::from_utf8(entry.filename()) else {
                continue;
            };
            if matches!(name, "" | "." | ".." | ".git") || name.contains(['/', '\0']) {
                return Err(BuildError::sync(
                    "git: the commit has a file of a forbidden name",
                ));
            }
            let full_path = format!("{prefix}{name}");
            match entry.mode().kind() {
                EntryKind::Tree => {
                    pending.push((entry.object_id(), format!("{full_path}/"), depth + 1))
                }
                EntryKind::Link if selection.selects(&full_path) => {
                    return Err(BuildError::sync(format!("git: `{full_path}` is a link")));
                }
                EntryKind::Blob | EntryKind::BlobExecutable if selection.selects(&full_path) => {
                    let id = entry.object_id();
                    let size = repository.find_header(id).map_err(failed)?.size();
                    quota.charge(&full_path, size).map_err(BuildError::sync)?;
                    let mut blob = repository.find_object(id).map_err(failed)?;
                    files.insert(full_path, std::mem::take(&mut blob.data));
                }
                EntryKind::Commit if !selection.reaches(&format!("{full_path}/")) => {
                    selection.record_skipped(&format!("{full_path}/"));
                }
                EntryKind::Commit => {
                    let relative = full_path
                        .strip_prefix(root_prefix)
                        .unwrap_or(&full_path)
                        .to_owned();
                    submodules.push((relative, full_path, entry.object_id()));
                }
                _ => {}
            }
        }
    }
    Ok(submodules)
}
