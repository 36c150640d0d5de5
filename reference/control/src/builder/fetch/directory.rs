//! Directories on the disk of the server, below allowed directories.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::{BuildError, Steps};
use crate::builder::file_selection::{FileQuota, Files, Selection};

/// Folder with a repository's own files, which is never part of a bundle.
const GIT: &str = ".git";

/// Resolves a path, including links, below one of the operator's folders. A relative path is looked
/// up in each of them in turn, and may lead from one into another.
///
/// # Errors
/// When it does not exist or is outside; the message lists the paths that were checked. Both cases
/// have the same message, so that it does not reveal which files exist.
pub(super) fn resolve(path: &Path, roots: &[PathBuf]) -> Result<PathBuf, BuildError> {
    // An absolute path joined to a root stays unchanged.
    let places: Vec<PathBuf> = roots.iter().map(|root| root.join(path)).collect();
    if let Some(found) = places.iter().find_map(|place| below(place, roots)) {
        return Ok(found);
    }
    let (candidates, explanation) = match path.is_absolute() {
        true => (roots, "it has to be below"),
        false => (places.as_slice(), "it was looked for at"),
    };
    let candidates: Vec<String> = candidates
        .iter()
        .map(|place| format!("`{}`", place.display()))
        .collect();
    let path = path.display();
    let places = match candidates.is_empty() {
        true => ", of which the server was given none (--source-root)".to_owned(),
        false => format!("; {explanation} {}", candidates.join(", ")),
    };
    Err(BuildError::config(format!(
        "`{path}` is not there or lies outside of the source roots{places}"
    )))
}

/// Resolves a path, if the result is below one of these folders.
pub(super) fn below(path: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let found = path.canonicalize().ok()?;
    let is_below = |root: &PathBuf| {
        root.canonicalize()
            .is_ok_and(|root| found.starts_with(root))
    };
    roots.iter().any(is_below).then_some(found)
}

/// Reads the files of a resolved folder below one of the operator's folders.
///
/// # Errors
/// When a link in it leads out of the operator's folders, a file cannot be read, a limit is
/// exceeded, or the read is cancelled.
pub(super) fn read(
    folder: PathBuf,
    roots: &[PathBuf],
    selection: &Selection,
    quota: &mut FileQuota,
    cancelled: &AtomicBool,
) -> Result<Files, BuildError> {
    let mut files = Files::new();
    let mut steps = Steps::new(quota.entries, cancelled);
    let mut pending = vec![(folder, String::new(), 0)];
    while let Some((folder, prefix, depth)) = pending.pop() {
        if depth > quota.depth {
            return Err(BuildError::sync(format!("`{prefix}` is nested too deep")));
        }
        let failed = |failure: std::io::Error| BuildError::sync(format!("`{prefix}`: {failure}"));
        for entry in fs::read_dir(&folder).map_err(failed)? {
            steps.count()?;
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| *name != GIT) else {
                continue;
            };
            let relative = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed)?;
            // Folders that no pattern reaches are not visited: they may contain anything.
            let is_reachable = || selection.reaches(&format!("{relative}/"));
            let found = match kind.is_symlink() {
                true if selection.selects(&relative)
                    || (entry.path().is_dir() && is_reachable()) =>
                {
                    below(&entry.path(), roots).ok_or_else(|| {
                        BuildError::config(format!(
                            "link `{relative}` leads nowhere or out of the operator's folders"
                        ))
                    })?
                }
                true => continue,
                false => entry.path(),
            };
            if found.is_dir() {
                if is_reachable() {
                    pending.push((found, format!("{relative}/"), depth + 1));
                }
            } else if selection.selects(&relative) {
                let bytes = file(&found, &relative, quota).map_err(BuildError::sync)?;
                files.insert(relative, bytes);
            }
        }
    }
    Ok(files)
}

fn file(path: &Path, name: &str, quota: &mut FileQuota) -> Result<Vec<u8>, String> {
    let failed = |failure: std::io::Error| format!("`{name}`: {failure}");
    // Opening a named pipe would block until it has a writer.
    if !path.is_file() {
        return Err(format!("`{name}` is not a file"));
    }
    let file = File::open(path).map_err(failed)?;
    let limit = quota.next();
    let mut bytes = Vec::new();
    let mut reader = file.take(limit.saturating_add(1));
    reader.read_to_end(&mut bytes).map_err(failed)?;
    quota.charge(name, bytes.len() as u64)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::builder::Limits;

    /// Folders with two links each to the next: a full walk would take forever.
    #[test]
    fn walks_end_when_nobody_waits() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let path = |n: usize| root.path().join(n.to_string());
        for n in 0..41 {
            fs::create_dir(path(n))?;
            for link in ["a", "b"] {
                symlink(path(n + 1), path(n).join(link))?;
            }
        }
        fs::create_dir(path(41))?;
        for (entries, cancelled, expected) in [
            (1000, false, "too many files"),
            (usize::MAX, true, "nobody waits"),
        ] {
            let cancelled = AtomicBool::new(cancelled);
            let mut quota = FileQuota::new(&Limits {
                entries,
                ..Limits::default()
            });
            let roots = [root.path().to_owned()];
            let all = Selection::default();
            let found = read(path(0), &roots, &all, &mut quota, &cancelled);
            let found = format!("{found:?}");
            assert!(found.contains(expected), "{found}");
        }
        Ok(())
    }
}
