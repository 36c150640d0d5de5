//! Installs the packages of lock files with the usual package managers.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::apt;
use crate::postgres::done;
use crate::report;
use crate::stored_evidence::on_search_path;

/// Written into a folder when all is there: the lock file that it was installed by.
const DONE: &str = "installed";

/// Programs, and the Debian packages that bring them.
const NPM: &[(&str, &str)] = &[("node", "nodejs"), ("npm", "npm")];
const PYTHON: &[(&str, &str)] = &[("python3", "python3")];
const MAVEN: &[(&str, &str)] = &[("javac", "default-jdk-headless"), ("mvn", "maven")];

/// Copies the files of a folder to where its `package-lock.json` is installed: Node.js looks for
/// libraries from where a program is.
///
/// # Errors
/// When something cannot be had.
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
    // Nothing of the packages runs before the programs that use them do.
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    done(command.args(["--loglevel", "error"]))?;
    installed(folder, &lock)
}

/// Makes an environment of Python with what a lock file names, in a folder of its own.
///
/// # Errors
/// When something cannot be had.
pub(crate) fn python(lock: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    programs(PYTHON)?;
    if is_installed(folder, lock)? {
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
    command.args(["-m", "venv", "--clear"]).arg(folder);
    done(&mut command)?;
    let mut command = Command::new(folder.join("bin/python"));
    command.args(["-m", "pip", "install", "--quiet"]);
    command.args(["--disable-pip-version-check", "--require-hashes"]);
    command.args(["--no-deps", "--only-binary", ":all:", "-r"]);
    done(command.arg(lock))?;
    installed(folder, lock)
}

/// Puts the jars that a `pom.xml` names, and those that they need, into a folder of their own.
///
/// # Errors
/// When something cannot be had.
pub(crate) fn maven(pom: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    programs(MAVEN)?;
    if is_installed(folder, pom)? {
        return Ok(());
    }
    report("installing", "the jars");
    let mut command = Command::new("mvn");
    command.args(["--quiet", "--batch-mode", "--file"]).arg(pom);
    command.arg("dependency:copy-dependencies");
    done(command.arg(format!("-DoutputDirectory={}", folder.display())))?;
    installed(folder, pom)
}

/// Installs those of the programs that are not there.
pub(crate) fn programs(wanted: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let missing = wanted
        .iter()
        .filter(|(program, _)| on_search_path(program).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => apt::install(&missing),
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
