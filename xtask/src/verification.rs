//! Builds and runs the package `verification`.

use std::ffi::OsStr;
use std::io::{IsTerminal as _, stderr};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::cargo::cargo;
use crate::commands::done;
use crate::{Failure, root};

/// Runs a check in the place of this program, so that its exit code and the signals to this
/// process are its own.
///
/// # Errors
/// When it cannot be started; it does not come back else.
pub(crate) fn replace(arguments: &[impl AsRef<OsStr>]) -> Result<(), Failure> {
    Err(command(arguments).exec().into())
}

/// Runs a check to its end.
///
/// # Errors
/// When it does not succeed.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Failure> {
    done(&mut command(arguments))
}

fn command(arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = cargo();
    // Where the caller stands remains: arguments may be paths.
    command.args(["run", "--package", "verification", "--manifest-path"]);
    command.arg(root().join("Cargo.toml"));
    // Who looks on sees what is compiled; logs hold what the check says.
    if !stderr().is_terminal() {
        command.arg("--quiet");
    }
    command.arg("--").args(arguments);
    command
}
