//! Copy of the sources, in which builds from scratch are measured.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::cargo::cargo;
use crate::commands::{done, output};

/// Copy of the sources; a failed measurement leaves it on disk until the next one starts.
pub(super) struct Copy {
    folder: PathBuf,
    sources: PathBuf,
}

impl Copy {
    /// Copies the files that git tracks or would add, as they are on disk, into an emptied folder.
    ///
    /// # Errors
    /// When git cannot list the files, or a file cannot be copied.
    pub(super) fn make(root: &Path, folder: &Path) -> Result<Self, Failure> {
        remove(folder)?;
        let sources = folder.join("sources");
        let mut git = Command::new("git");
        git.current_dir(root);
        git.args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        for file in output(&mut git)?.split_terminator('\0') {
            let from = root.join(file);
            // Git may list a file that is already deleted.
            if from.is_file() {
                let to = sources.join(file);
                fs::create_dir_all(to.parent().unwrap_or(&sources))?;
                fs::copy(from, to)?;
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            sources,
        })
    }

    /// Returns a cargo command that runs and builds in the copy.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = cargo();
        command
            .current_dir(&self.sources)
            .env("CARGO_TARGET_DIR", self.builds())
            .args(arguments);
        command
    }

    /// Runs cargo in the copy.
    ///
    /// # Errors
    /// When it does not succeed.
    pub(super) fn cargo(&self, arguments: &[&str]) -> Result<(), Failure> {
        done(&mut self.command(arguments))
    }

    /// Changes a source file by inserting a line at its top, which moves all other lines down.
    ///
    /// # Errors
    /// When there is no such file.
    pub(super) fn change(&self, file: &str) -> Result<(), Failure> {
        let path = self.sources.join(file);
        let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        Ok(fs::write(&path, format!("// A line more.\n{text}"))?)
    }

    /// Removes all build output.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub(super) fn forget_builds(&self) -> Result<(), Failure> {
        remove(&self.builds())
    }

    /// Removes the copy and its build output.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub(super) fn remove(self) -> Result<(), Failure> {
        remove(&self.folder)
    }

    fn builds(&self) -> PathBuf {
        self.folder.join("builds")
    }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
