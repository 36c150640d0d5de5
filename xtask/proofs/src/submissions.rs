//! `cargo xtask submissions`: judges what implementers published again, so that nobody has to be
//! believed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use conformance::submission;

use crate::{evidence, kept, report, root};

/// Checks every submission below `results/`, or those that are named.
///
/// # Errors
/// With every submission that is not accepted, and with folders that are none.
pub(crate) fn run(folders: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let all = match folders.is_empty() {
        true => all()?,
        false => folders.to_vec(),
    };
    let mut wrong = Vec::new();
    for folder in &all {
        let shown = folder.strip_prefix(root()).unwrap_or(folder).display();
        // The last three parts of the path name what was judged.
        match folder
            .canonicalize()
            .map(|folder| submission::check(&folder))
        {
            Ok(Ok(standing)) => report(&shown.to_string(), &standing.to_string()),
            Ok(Err(why)) => wrong.push(format!("{shown}: {why}")),
            Err(why) => wrong.push(format!("{shown}: {why}")),
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

/// The folders `results/PROFILE/NAME/VERSION`: all that hold no evidence of our own runs.
///
/// # Errors
/// A folder that cannot be read, and files between the folders.
pub(crate) fn all() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut versions = Vec::new();
    let own = [evidence::CLIENTS, evidence::LIBRARIES].map(|folder| root().join(folder));
    let mut profiles = folders(&root().join(kept::FOLDER), true)?;
    profiles.retain(|folder| !own.contains(folder));
    for profile in profiles {
        for name in folders(&profile, false)? {
            versions.extend(folders(&name, false)?);
        }
    }
    Ok(versions)
}

/// The folders in a folder, by name; only the first may hold files beside them.
fn folders(within: &Path, files: bool) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(within)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        } else if !files {
            return Err(format!("{}: is no part of a submission", path.display()).into());
        }
    }
    found.sort();
    Ok(found)
}
