//! Builds and runs the package `verification`.

use std::ffi::OsStr;
use std::io::{IsTerminal as _, stderr};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::cargo::cargo;
use crate::commands::done;
use crate::{Failure, root};

/// Replaces this process with a check, so that the check receives signals to this process, and its
/// exit code is that of this process.
///
/// # Errors
/// When the check cannot be started; otherwise this function does not return.
pub(crate) fn replace(arguments: &[impl AsRef<OsStr>]) -> Result<(), Failure> {
    Err(command(arguments).exec().into())
}

/// Runs a check to completion.
///
/// # Errors
/// When it does not succeed.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Failure> {
    done(&mut command(arguments))
}

fn command(arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = cargo();
    // The working directory is unchanged, because arguments may be relative paths.
    command.args(["run", "--package", "verification", "--manifest-path"]);
    command.arg(root().join("Cargo.toml"));
    // A terminal shows the compilation; logs contain only the output of the check.
    if !stderr().is_terminal() {
        command.arg("--quiet");
    }
    command.arg("--").args(arguments);
    command
}
