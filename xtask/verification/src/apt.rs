//! Installs the Debian packages of the servers that checks need.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::complete;
use crate::report;

/// Installs those packages whose program is missing; each pair is a package and its program.
///
/// # Errors
/// As [`install`].
pub(crate) fn require(packages: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let missing = packages
        .iter()
        .filter(|(_, program)| !Path::new(program).is_file());
    let missing: Vec<&str> = missing.map(|(package, _)| *package).collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => install(missing),
    }
}

/// Installs Debian packages.
///
/// # Errors
/// When the system is not Debian, or the packages are not available.
pub(crate) fn install(packages: &[&str]) -> Result<(), Box<dyn Error>> {
    report("installing", &packages.join(" "));
    complete(Command::new("apt-get").arg("update").stdout(Stdio::null()))?;
    complete(
        Command::new("apt-get")
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null()),
    )
}
