//! `conformance schema`: JSON Schemas of the program's output.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::Failed;
use crate::report;

/// The command line of `schema`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Of what
    #[arg(value_name = "WHAT")]
    what: SchemaFormat,
}

/// Formats with a schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaFormat {
    /// The report that `--report json=PATH` writes
    Report,
}

/// Prints a JSON Schema.
pub(super) fn schema(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failed> {
    match arguments.what {
        SchemaFormat::Report => write!(out, "{}", report::SCHEMA)?,
    }
    Ok(0)
}
