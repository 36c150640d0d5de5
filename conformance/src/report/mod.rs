//! Reports. Each reads only the events of a run, so that stored evidence can be reported again
//! without traffic.

mod badge;
pub mod capability;
mod concurrency_hint;
pub mod coverage;
mod digest;
mod failure;
mod failure_groups;
mod html;
mod json;
mod junit;
mod markdown;
mod markdown_escape;
mod profile_result;
pub(crate) mod repetitions;
pub(crate) mod repro;
mod run_names;
pub mod stability;
mod tap;
mod terminal;

use std::path::PathBuf;
use std::str::FromStr;
use std::{fs, io};

use serde::Deserialize;

use crate::visible;

pub use digest::{Conclusion, Digest, Outcome, Row};
pub use html::{Implementation, Page, site, trim};
pub use json::SCHEMA;
pub use profile_result::ProfileResult;
pub(crate) use run_names::labels;
pub use terminal::{Paint, Progress, verdict_line};

/// A report to be written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct FileReport {
    /// The format.
    pub format: Format,
    /// The output file.
    pub path: PathBuf,
}

/// Formats of reports that are written to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// The score in one line, for services that draw badges.
    Badge,
    /// One page for people: every clause, its requests and responses, several runs side by side.
    Html,
    /// The summary and every verdict, one JSON document.
    Json,
    /// JUnit XML.
    Junit,
    /// The summary and the failures, for the page of a CI job.
    Markdown,
    /// The evidence: every event, one JSON document a line, written as it happens.
    Ndjson,
    /// The Test Anything Protocol, version 14.
    Tap,
}

impl Format {
    /// Every format with its name.
    const NAMED: [(&str, Self); 7] = [
        ("badge", Self::Badge),
        ("html", Self::Html),
        ("json", Self::Json),
        ("junit", Self::Junit),
        ("markdown", Self::Markdown),
        ("ndjson", Self::Ndjson),
        ("tap", Self::Tap),
    ];
}

impl FromStr for FileReport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, path) = text
            .split_once('=')
            .filter(|(_, path)| !path.is_empty())
            .ok_or_else(|| format!("`{text}` is not FORMAT=PATH"))?;
        let format = Format::NAMED.iter().find(|(known, _)| *known == name);
        let (_, format) = format.ok_or_else(|| {
            let known = Format::NAMED.map(|(known, _)| known).join(", ");
            format!("unknown report format `{name}`: expected one of {known}")
        })?;
        Ok(Self {
            format: *format,
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

/// Renders the terminal's report: failures, then the summary and the score.
pub fn terminal(digest: &Digest, paint: Paint) -> String {
    terminal::render(digest, paint)
}

/// Renders the JSON report of a run.
///
/// # Errors
/// The report cannot be serialized.
pub(crate) fn json(digest: &Digest) -> io::Result<String> {
    Ok(visible::json(&json::render(digest)?))
}

/// Writes a report of finished runs. Only the HTML page accepts more than one. Evidence is written
/// during a run and is not changed here.
///
/// # Errors
/// The file cannot be written, serialization fails, or the format accepts only one run.
pub fn write(digests: &[Digest], report: &FileReport) -> io::Result<()> {
    let text = match (report.format, digests) {
        (Format::Ndjson, _) => return Ok(()),
        // Rendering the page already escapes it.
        (Format::Html, _) => html::render(digests),
        (Format::Badge, [digest]) => visible::json(&badge::render(digest)?),
        (Format::Json, [digest]) => json(digest)?,
        (Format::Junit, [digest]) => {
            visible::visible(&junit::render(digest).map_err(io::Error::other)?)
        }
        (Format::Markdown, [digest]) => visible::visible(&markdown::render(digest)),
        (Format::Tap, [digest]) => {
            visible::visible(&tap::render(digest).map_err(io::Error::other)?)
        }
        _ => return Err(io::Error::other("this format tells of one run alone")),
    };
    fs::write(&report.path, text)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests;
