//! `conformance coverage`: how much of each document the scenarios show.

use std::io::Write;

use clap::Args;

use super::list::Format;
use super::{Failed, catalogue};
use crate::report::coverage::Coverage;

/// The command line of `coverage`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Shows the coverage.
pub(super) fn coverage(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failed> {
    let coverage = Coverage::of(catalogue()?);
    match arguments.format {
        Format::Text => write!(out, "{coverage}")?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &coverage).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(0)
}
