//! Installs the packages of lock files with the usual package managers.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::apt;
use crate::command::complete;
use crate::report;
use crate::stored_evidence::on_search_path;

/// Name of the file that marks a complete installation and is a copy of its lock file.
const DONE: &str = "installed";

/// Programs that installations require, with their Debian packages.
const NPM: &[(&str, &str)] = &[("node", "nodejs"), ("npm", "npm")];
const PYTHON: &[(&str, &str)] = &[("python3", "python3")];
const MAVEN: &[(&str, &str)] = &[("javac", "default-jdk-headless"), ("mvn", "maven")];

/// Copies a folder's files and installs the packages of its `package-lock.json` next to the copies:
/// Node.js resolves libraries relative to the program.
///
/// # Errors
/// When something is not available.
pub(crate) fn npm(source: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    programs(NPM)?;
    fs::create_dir_all(folder)?;
    for file in fs::read_dir(source)? {
        let file = file?;
        if file.file_type()?.is_file() {
            fs::copy(file.path(), folder.join(file.file_name()))?;
        }
    }
    let lock = source.join("package-lock.json");
    if is_installed(folder, &lock)? {
        return Ok(());
    }
    report("installing", "the npm packages");
    let mut command = Command::new("npm");
    command.current_dir(folder);
    // Install scripts of packages must not run.
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    complete(command.args(["--loglevel", "error"]))?;
    installed(folder, &lock)
}

/// Creates a Python environment with the packages of a lock file, in a separate folder.
///
/// # Errors
/// When something is not available.
pub(crate) fn python(lock: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    programs(PYTHON)?;
    if is_installed(folder, lock)? {
        return Ok(());
    }
    report("installing", "the Python packages");
    let mut check = Command::new("python3");
    let check = check.args(["-c", "import ensurepip"]);
    if !check.stderr(Stdio::null()).status()?.success() {
        // Debian packages this module separately.
        apt::install(&["python3-venv"])?;
    }
    let mut command = Command::new("python3");
    command.args(["-m", "venv", "--clear"]).arg(folder);
    complete(&mut command)?;
    let mut command = Command::new(folder.join("bin/python"));
    command.args(["-m", "pip", "install", "--quiet"]);
    command.args(["--disable-pip-version-check", "--require-hashes"]);
    command.args(["--no-deps", "--only-binary", ":all:", "-r"]);
    complete(command.arg(lock))?;
    installed(folder, lock)
}

/// Copies the jars of a `pom.xml` and their dependencies into a separate folder.
///
/// # Errors
/// When something is not available.
pub(crate) fn maven(pom: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    programs(MAVEN)?;
    if is_installed(folder, pom)? {
        return Ok(());
    }
    report("installing", "the jars");
    let mut command = Command::new("mvn");
    command.args(["--quiet", "--batch-mode", "--file"]).arg(pom);
    command.arg("dependency:copy-dependencies");
    complete(command.arg(format!("-DoutputDirectory={}", folder.display())))?;
    installed(folder, pom)
}

/// Installs those of the programs that are missing.
pub(crate) fn programs(required: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let missing = required
        .iter()
        .filter(|(program, _)| on_search_path(program).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => apt::install(&missing),
    }
}

/// Whether the folder was installed from this version of the lock file.
fn is_installed(folder: &Path, lock: &Path) -> Result<bool, Box<dyn Error>> {
    let by = fs::read(folder.join(DONE)).unwrap_or_default();
    Ok(by == fs::read(lock)?)
}

fn installed(folder: &Path, lock: &Path) -> Result<(), Box<dyn Error>> {
    fs::copy(lock, folder.join(DONE))?;
    Ok(())
}
