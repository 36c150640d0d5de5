//! Files changed since a revision.

use std::path::Path;
use std::process::Command;

use crate::commands::output;
use crate::{Failure, root};

/// Paths of changed files, from the root of the workspace.
#[derive(Debug)]
pub(super) struct Changes(Vec<String>);

impl Changes {
    /// The files that differ between the tree on disk and the point where its branch left `rev`,
    /// with those that git does not know yet.
    ///
    /// # Errors
    /// When git does not know the revision.
    pub(super) fn since(rev: &str) -> Result<Self, Failure> {
        let changed = git(&["diff", "--name-only", "--merge-base", rev, "--"])?;
        let new = git(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(Self::of(&(changed + &new)))
    }

    /// The files of a list, one a line.
    pub(super) fn of(list: &str) -> Self {
        Self(list.lines().map(str::to_owned).collect())
    }

    /// Whether one of the files is one of these, or below one of these folders.
    pub(super) fn touch(&self, paths: &[&str]) -> bool {
        let mut changed = self.0.iter().map(Path::new);
        changed.any(|file| paths.iter().any(|path| file.starts_with(path)))
    }
}

fn git(arguments: &[&str]) -> Result<String, Failure> {
    let mut git = Command::new("git");
    // Paths as they are, also those that are not ASCII.
    git.args(["-c", "core.quotePath=false"]).args(arguments);
    output(git.current_dir(root()))
}
