//! Files changed since a revision.

use std::path::Path;
use std::process::Command;

use crate::commands::output;
use crate::{Failure, root};

/// Paths of changed files, from the root of the workspace.
#[derive(Debug)]
pub(super) struct Changes(Vec<String>);

impl Changes {
    /// Returns the files that differ between the working tree and the merge base with `rev`,
    /// including untracked files.
    ///
    /// # Errors
    /// When git does not know the revision.
    pub(super) fn since(rev: &str) -> Result<Self, Failure> {
        let changed = git(&["diff", "--name-only", "--merge-base", rev, "--"])?;
        let new = git(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(Self::of(&(changed + &new)))
    }

    /// Parses a list with one file per line.
    pub(super) fn of(list: &str) -> Self {
        Self(list.lines().map(str::to_owned).collect())
    }

    /// Whether one of the changed files is in `paths`, or below a folder in it.
    pub(super) fn touch(&self, paths: &[&str]) -> bool {
        let mut changed = self.0.iter().map(Path::new);
        changed.any(|file| paths.iter().any(|path| file.starts_with(path)))
    }
}

fn git(arguments: &[&str]) -> Result<String, Failure> {
    let mut git = Command::new("git");
    // Prints paths unescaped, including non-ASCII ones.
    git.args(["-c", "core.quotePath=false"]).args(arguments);
    output(git.current_dir(root()))
}
