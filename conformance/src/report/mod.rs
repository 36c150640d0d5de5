//! Reports: each reads the events of a run and nothing else, so that stored evidence can be
//! reported again without traffic.

mod digest;
mod failure;
mod json;
mod junit;
mod terminal;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use serde::Deserialize;

pub use digest::{Conclusion, Digest, Outcome, Row};
pub use terminal::{Paint, Progress, verdict_line};

/// A report that is written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct FileReport {
    /// What kind.
    pub format: Format,
    /// Where to.
    pub path: PathBuf,
}

/// The kinds of reports that are written to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The summary and every verdict, one JSON document.
    Json,
    /// The evidence: every event, one JSON document a line, written as it happens.
    Ndjson,
    /// JUnit XML.
    Junit,
}

impl FromStr for FileReport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, path) = text
            .split_once('=')
            .filter(|(_, path)| !path.is_empty())
            .ok_or_else(|| format!("`{text}` is not FORMAT=PATH"))?;
        let format = match format {
            "json" => Format::Json,
            "ndjson" => Format::Ndjson,
            "junit" => Format::Junit,
            _ => return Err(format!("`{format}` is none of json, ndjson, junit")),
        };
        Ok(Self {
            format,
            path: path.into(),
        })
    }
}

impl TryFrom<String> for FileReport {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// The terminal's report: failures, then the summary and the score.
pub fn terminal(digest: &Digest, paint: Paint) -> String {
    terminal::render(digest, paint)
}

/// Writes a report of a finished run. The evidence is written while the run goes on and is
/// left alone here.
///
/// # Errors
/// The file cannot be written, or XML cannot be made.
pub fn write(digest: &Digest, report: &FileReport) -> io::Result<()> {
    let text = match report.format {
        Format::Json => json::render(digest)?,
        Format::Junit => junit::render(digest).map_err(io::Error::other)?,
        Format::Ndjson => return Ok(()),
    };
    fs::write(&report.path, text)
}
