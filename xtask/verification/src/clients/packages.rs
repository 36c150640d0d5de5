//! Installation of the client libraries, at the versions of the lock files.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::FOLDER;
use crate::command::complete;
use crate::stored_evidence::on_search_path;
use crate::{lock_files, root};

/// Folder in which the libraries are installed.
const INSTALLED: &str = "target/clients";

/// Folders of the installed programs and libraries.
#[derive(Debug)]
pub(super) struct Packages {
    npm: PathBuf,
    python: PathBuf,
}

impl Packages {
    /// Installs the libraries that are missing, at the versions of the lock files.
    ///
    /// # Errors
    /// When a program or library is not available.
    pub(super) fn install() -> Result<Self, Box<dyn Error>> {
        let packages = Self {
            npm: root().join(INSTALLED).join("npm"),
            python: root().join(INSTALLED).join("python"),
        };
        let source = root().join(FOLDER);
        lock_files::npm(&source.join("npm"), &packages.npm)?;
        packages.generate()?;
        let lock = source.join("python/requirements.txt");
        lock_files::python(&lock, &packages.python)?;
        Ok(packages)
    }

    /// Returns a command for a JavaScript program.
    pub(super) fn node(&self, program: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.npm.join(program));
        command
    }

    /// Returns a command for Python in the environment with the libraries.
    pub(super) fn python(&self) -> Command {
        Command::new(self.python.join("bin/python"))
    }

    /// Generates the database client.
    fn generate(&self) -> Result<(), Box<dyn Error>> {
        let node = on_search_path("node").ok_or("there is no Node.js")?;
        complete(
            Command::new(self.npm.join("node_modules/.bin/prisma"))
                .current_dir(&self.npm)
                .args(["generate", "--schema", "schema.prisma"])
                // The generator needs no engine, but would download one unless the variable names
                // an executable.
                .env("PRISMA_SCHEMA_ENGINE_BINARY", node)
                .env("CHECKPOINT_DISABLE", "1")
                .env("PRISMA_HIDE_UPDATE_MESSAGE", "1")
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )
    }
}
