//! `cargo xtask submissions`: verifies published submissions.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use conformance::submission::{self, Accepted};
use conformance::visible_line;

use crate::{evidence, report, root, stored_evidence};

/// Maximum number of rejected submissions that are reported.
const TOLD: usize = 100;

/// Result of a search for submissions below a folder.
#[derive(Debug, Default)]
pub(crate) struct FoundSubmissions {
    /// Folders of the found submissions, `PROFILE/NAME/VERSION`.
    pub(crate) folders: Vec<PathBuf>,
    /// Messages about entries that are not part of a submission or cannot be read.
    pub(crate) wrong: Vec<String>,
}

/// Checks every submission below `results/`, or those in these folders.
///
/// # Errors
/// Reports every rejected submission and every folder without one, after all others are judged.
pub(crate) fn run(folders: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let mut found = FoundSubmissions::default();
    match folders.is_empty() {
        true => found = all(&root().join(stored_evidence::FOLDER)),
        false => found.folders.extend_from_slice(folders),
    }
    for folder in &found.folders {
        match accepted(folder) {
            Ok(accepted) => report(&display_path(folder), &accepted.standing.to_string()),
            Err(error) => found.wrong.push(error),
        }
    }
    fail_if_refused(found.wrong)
}

/// Checks a submission; returns an error that names its folder if it is rejected.
pub(crate) fn accepted(folder: &Path) -> Result<Accepted, String> {
    let checked = match placed(folder) {
        Ok(folder) => submission::check(&folder).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    checked.map_err(|error| format!("{}: {}", display_path(folder), visible_line(&error)))
}

/// Canonical path of a folder, whose last three segments name the target. Parents may be links.
fn placed(folder: &Path) -> io::Result<PathBuf> {
    match (folder.parent(), folder.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => {
            Ok(PathBuf::from(".").canonicalize()?.join(name))
        }
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => folder.canonicalize(),
    }
}

/// Fails with these messages, if there are any.
pub(crate) fn fail_if_refused(mut wrong: Vec<String>) -> Result<(), Box<dyn Error>> {
    let more = wrong.len().saturating_sub(TOLD);
    wrong.truncate(TOLD);
    if more > 0 {
        wrong.push(format!("and {more} more"));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

/// Returns the folders `PROFILE/NAME/VERSION` below a folder, except those with evidence of our own
/// runs. Links are not followed.
pub(crate) fn all(below: &Path) -> FoundSubmissions {
    let mut found = FoundSubmissions::default();
    let own = [evidence::CLIENTS, evidence::LIBRARIES].map(|folder| root().join(folder));
    let mut profiles = found.within(below, true);
    profiles.retain(|folder| !own.contains(folder));
    for profile in profiles {
        for name in found.within(&profile, false) {
            let versions = found.within(&name, false);
            found.folders.extend(versions);
        }
    }
    found
}

impl FoundSubmissions {
    /// Returns the subfolders of a folder by name; only the outermost folder may also contain
    /// files.
    fn within(&mut self, folder: &Path, files: bool) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.wrong
                    .push(format!("{}: {error}", display_path(folder)));
                return folders;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() => folders.push(path),
                Ok((_, kind)) if files && kind.is_file() => {}
                Ok((path, _)) => {
                    let error = "is not part of a submission";
                    self.wrong.push(format!("{}: {error}", display_path(&path)));
                }
                Err(error) => self
                    .wrong
                    .push(format!("{}: {error}", display_path(folder))),
            }
        }
        folders.sort();
        folders
    }
}

fn display_path(folder: &Path) -> String {
    let folder = folder.strip_prefix(root()).unwrap_or(folder);
    visible_line(&folder.display().to_string())
}
