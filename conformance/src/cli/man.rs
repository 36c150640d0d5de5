//! `conformance man`: the manual page.

use std::io::Write;

use clap::{Args, Command};
use clap_mangen::Man;

use super::Failed;

/// The command line of `man`.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Where the output belongs: ~/.local/share/man/man1/conformance.1, or conformance-COMMAND.1"
)]
pub(super) struct Arguments {
    /// The command to describe, such as `run`; without it, the program as a whole
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Writes the manual page, in the form that `man` reads.
pub(super) fn man(
    arguments: &Arguments,
    mut command: Command,
    out: &mut dyn Write,
) -> Result<u8, Failed> {
    command.build();
    let described = match &arguments.command {
        None => command,
        Some(name) => {
            let named = command.find_subcommand(name).cloned();
            let named = named.ok_or_else(|| Failed::usage(format!("no command `{name}`")))?;
            named.name(format!("conformance-{name}"))
        }
    };
    let mut page = Vec::new();
    Man::new(described).render(&mut page)?;
    out.write_all(&page)?;
    Ok(0)
}
