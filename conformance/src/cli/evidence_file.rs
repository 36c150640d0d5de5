//! Evidence that a run wrote to a file.

use std::fs;
use std::path::Path;

use serde::de::IgnoredAny;

use super::Failed;
use crate::evidence::{self, Event, TargetSummary};

/// Returns the target on which the evidence was recorded.
///
/// # Errors
/// No event starts a run.
pub(super) fn judged(events: &[Event], path: &Path) -> Result<TargetSummary, Failed> {
    let target = events.iter().find_map(|event| match event {
        Event::RunStarted(started) => Some(started.target.clone()),
        _ => None,
    });
    target.ok_or_else(|| Failed::at(path, &"no run starts in it"))
}

/// Creates the error for a file with a line that is not an event.
fn invalid_event(path: &Path, text: &str, number: usize, error: &serde_json::Error) -> Failed {
    // Other reports are a single JSON value, or not JSON.
    let is_evidence = number > 1 && serde_json::from_str::<IgnoredAny>(text).is_err();
    Failed::usage(match is_evidence {
        true => format!("{}:{number}: {error}", path.display()),
        false => format!(
            "{}: invalid evidence: expected one event per line, as `conformance run --report ndjson=FILE` writes it",
            path.display()
        ),
    })
}

/// Reads evidence. An incomplete last line, as a killed run leaves it, is ignored.
///
/// # Errors
/// The file cannot be read, or a line is not an event.
pub(super) fn read(path: &Path) -> Result<Vec<Event>, Failed> {
    let text = fs::read_to_string(path).map_err(|error| Failed::at(path, &error))?;
    let mut events = Vec::new();
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        match Event::read(line) {
            Ok(event) => events.push(event),
            Err(error) if error.is_eof() && !line.ends_with('\n') && number > 1 => break,
            Err(error) => return Err(invalid_event(path, &text, number, &error)),
        }
    }
    evidence::curl::restore(&mut events);
    Ok(events)
}
