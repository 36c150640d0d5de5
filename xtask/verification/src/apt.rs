//! Debian packages of the servers that checks need.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::postgres::done;
use crate::report;

/// Installs those packages of which the program is not there; each as (package, program).
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

/// Installs packages.
///
/// # Errors
/// When the machine has no Debian, or the packages cannot be had.
pub(crate) fn install(packages: &[&str]) -> Result<(), Box<dyn Error>> {
    report("installing", &packages.join(" "));
    done(Command::new("apt-get").arg("update").stdout(Stdio::null()))?;
    done(
        Command::new("apt-get")
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null()),
    )
}
