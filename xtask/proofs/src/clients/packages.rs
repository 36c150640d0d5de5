//! The client libraries, at the versions of the lock files.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::FOLDER;
use crate::kept::on_search_path;
use crate::postgres::done;
use crate::{apt, report, root};

/// Where they are installed.
const INSTALLED: &str = "target/clients";

/// Programs, and the Debian packages that bring them.
const PROGRAMS: &[(&str, &str)] = &[("node", "nodejs"), ("npm", "npm"), ("python3", "python3")];

/// Written into a folder when all is there: the lock file that it was installed by.
const DONE: &str = "installed";

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
        let missing = PROGRAMS
            .iter()
            .filter(|(program, _)| on_search_path(program).is_none());
        let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
        if !missing.is_empty() {
            apt::install(&missing)?;
        }
        let packages = Self {
            npm: root().join(INSTALLED).join("npm"),
            python: root().join(INSTALLED).join("python"),
        };
        packages.install_npm()?;
        packages.install_python()?;
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

    fn install_npm(&self) -> Result<(), Box<dyn Error>> {
        let source = root().join(FOLDER).join("npm");
        fs::create_dir_all(&self.npm)?;
        // Libraries are looked for from where a program is.
        for file in fs::read_dir(&source)? {
            let file = file?;
            fs::copy(file.path(), self.npm.join(file.file_name()))?;
        }
        let lock = source.join("package-lock.json");
        if !is_installed(&self.npm, &lock)? {
            report("installing", "the npm packages");
            let mut command = Command::new("npm");
            command.current_dir(&self.npm);
            // Nothing of the packages runs before the programs that use them do.
            command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
            done(command.args(["--loglevel", "error"]))?;
            installed(&self.npm, &lock)?;
        }
        self.generate()
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

    fn install_python(&self) -> Result<(), Box<dyn Error>> {
        let lock = root().join(FOLDER).join("python/requirements.txt");
        if is_installed(&self.python, &lock)? {
            return Ok(());
        }
        report("installing", "the Python packages");
        let mut looked = Command::new("python3");
        let looked = looked.args(["-c", "import ensurepip"]);
        if !looked.stderr(Stdio::null()).status()?.success() {
            // Debian takes it out of Python.
            apt::install(&["python3-venv"])?;
        }
        let mut command = Command::new("python3");
        command.args(["-m", "venv", "--clear"]).arg(&self.python);
        done(&mut command)?;
        done(
            self.python()
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                ])
                .args([
                    "--require-hashes",
                    "--no-deps",
                    "--only-binary",
                    ":all:",
                    "-r",
                ])
                .arg(&lock),
        )?;
        installed(&self.python, &lock)
    }
}

/// Whether a folder has all that this lock file names.
fn is_installed(folder: &Path, lock: &Path) -> Result<bool, Box<dyn Error>> {
    let by = fs::read(folder.join(DONE)).unwrap_or_default();
    Ok(by == fs::read(lock)?)
}

fn installed(folder: &Path, lock: &Path) -> Result<(), Box<dyn Error>> {
    fs::copy(lock, folder.join(DONE))?;
    Ok(())
}
