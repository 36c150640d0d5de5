//! `conformance coverage`: coverage of the documents by scenarios, and the clauses of each
//! sentence.

use std::io::Write;

use clap::Args;
use serde::Serialize;

use super::list::Format;
use super::{Failed, catalogue};
use crate::catalogue::Catalogue;
use crate::report::coverage::{Coverage, sentences};

/// The command line of `coverage`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Show each sentence with the clauses that state it, or why none does
    #[arg(long)]
    sentences: bool,
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Prints the coverage in the requested format.
pub(super) fn coverage(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failed> {
    let catalogue = catalogue()?;
    match (arguments.format, arguments.sentences) {
        (Format::Text, false) => write!(out, "{}", Coverage::of(catalogue))?,
        (Format::Text, true) => list(catalogue, out)?,
        (Format::Json, false) => json(&Coverage::of(catalogue), out)?,
        (Format::Json, true) => json(&sentences(catalogue), out)?,
    }
    Ok(0)
}

/// Prints the sentences below a heading for each section.
fn list(catalogue: &Catalogue, out: &mut dyn Write) -> Result<(), Failed> {
    let mut before = None;
    for sentence in sentences(catalogue) {
        let place = (sentence.document, sentence.section);
        if before.replace(place) != Some(place) {
            writeln!(out, "{}  {}", sentence.document, sentence.section)?;
        }
        write!(out, "{sentence}")?;
    }
    Ok(())
}

fn json(value: &impl Serialize, out: &mut dyn Write) -> Result<(), Failed> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
