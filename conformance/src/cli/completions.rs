//! `conformance completions SHELL`: shell completions.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use super::Failed;

/// The command line of `completions`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// The shell that is to complete
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const NOTES: &str = "\
Where the output belongs:
  bash  ~/.local/share/bash-completion/completions/conformance
  zsh   _conformance in a folder of $fpath
  fish  ~/.config/fish/completions/conformance.fish";

/// Writes the script that completes the program's commands and options in a shell.
pub(super) fn completions(
    arguments: &Arguments,
    mut command: Command,
    out: &mut dyn Write,
) -> Result<u8, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "conformance", &mut script);
    out.write_all(&script)?;
    Ok(0)
}
