//! Client libraries, at the versions of the lock files.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::FOLDER;
use crate::postgres::done;
use crate::stored_evidence::on_search_path;
use crate::{lock_files, root};

/// Where they are installed.
const INSTALLED: &str = "target/clients";

/// Where the programs and libraries are.
#[derive(Debug)]
pub(super) struct Packages {
    npm: PathBuf,
    python: PathBuf,
}

impl Packages {
    /// Installs what is not there as the lock files say.
    ///
    /// # Errors
    /// When something cannot be had.
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

    /// A command for a program in JavaScript.
    pub(super) fn node(&self, program: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.npm.join(program));
        command
    }

    /// A command for Python with the libraries.
    pub(super) fn python(&self) -> Command {
        Command::new(self.python.join("bin/python"))
    }

    /// Makes the client of the tables.
    fn generate(&self) -> Result<(), Box<dyn Error>> {
        let node = on_search_path("node").ok_or("there is no Node.js")?;
        done(
            Command::new(self.npm.join("node_modules/.bin/prisma"))
                .current_dir(&self.npm)
                .args(["generate", "--schema", "schema.prisma"])
                // What makes the client needs no engine, but would get one from a host of its
                // own, unless it is told that it has one.
                .env("PRISMA_SCHEMA_ENGINE_BINARY", node)
                .env("CHECKPOINT_DISABLE", "1")
                .env("PRISMA_HIDE_UPDATE_MESSAGE", "1")
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )
    }
}
