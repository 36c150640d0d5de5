//! Execution of commands to completion.

use std::process::Command;

use crate::cargo::cargo;
use crate::{Failure, root};

/// Runs cargo on the workspace.
///
/// # Errors
/// When it cannot be started or does not succeed.
pub(crate) fn run_cargo(arguments: &[&str]) -> Result<(), Failure> {
    done(cargo().current_dir(root()).args(arguments))
}

/// Runs a command.
///
/// # Errors
/// When it cannot be started or does not succeed; the message names it.
pub(crate) fn done(command: &mut Command) -> Result<(), Failure> {
    let status = command
        .status()
        .map_err(|error| format!("{}: {error}", line(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", line(command)).into())
    }
}

/// Runs a command and returns what it wrote to its standard output.
///
/// # Errors
/// As [`done`], and when the output is not UTF-8.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    command.stderr(std::process::Stdio::inherit());
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", line(command)))?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{} ended with {}", line(command), output.status).into())
    }
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
