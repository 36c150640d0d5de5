//! Debian's packages, for the servers that proofs need.

use std::error::Error;
use std::process::{Command, Stdio};

use crate::postgres::done;
use crate::report;

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
