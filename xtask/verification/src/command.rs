//! Commands that run to completion.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// Runs a command to completion.
///
/// # Errors
/// When the command cannot be started or does not succeed; the message names it.
pub(crate) fn complete(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command
        .status()
        .map_err(|error| format!("{}: {error}", name(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", name(command)).into())
    }
}

fn name(command: &Command) -> String {
    let program = Path::new(command.get_program()).display().to_string();
    let arguments = command
        .get_args()
        .map(|argument| argument.to_string_lossy());
    std::iter::once(program.into())
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}
