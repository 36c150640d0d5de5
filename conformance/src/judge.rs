//! From what playing a scenario showed to the verdict.

use crate::catalogue::Level;
use crate::compare::compare;
use crate::runner::Played;
use crate::transcript::Transcript;
use crate::verdict::{Failure, Reason, Verdict};

/// The verdict on a played scenario. `expected` is the blessed transcript.
pub(crate) fn verdict(level: Level, expected: Option<&str>, played: &Played) -> Verdict {
    if level == Level::Open {
        return Verdict::Recorded;
    }
    match (trouble(played), expected) {
        (Some(failure), None) => Verdict::Fail(failure),
        // What went wrong first may be the reason for the rest.
        (Some(failure), Some(expected)) => match difference(expected, played) {
            Some(earlier) if earlier.step < failure.step => Verdict::Fail(earlier),
            _ => Verdict::Fail(failure),
        },
        (None, None) => Verdict::NotRun(Reason::NoSnapshot),
        (None, Some(expected)) => difference(expected, played).map_or(Verdict::Pass, Verdict::Fail),
    }
}

/// What went wrong whatever was expected: a step that could not go on, or an answer that breaks
/// the OpenAPI document.
pub(crate) fn trouble(played: &Played) -> Option<Failure> {
    if let Some(failure) = &played.trouble {
        return Some(failure.clone());
    }
    let (index, _) = played.findings.first()?;
    Some(played.failure(*index, notes(played, *index)))
}

/// The first step that differs from the blessed transcript.
fn difference(expected: &str, played: &Played) -> Option<Failure> {
    if played.transcript.to_string() == expected {
        return None;
    }
    let mut steps = compare(&Transcript::parse(expected), &played.transcript).into_iter();
    let (index, differences) = steps.next()?;
    let mut notes = notes(played, index);
    let was_played = |(index, _): &(usize, _)| *index < played.transcript.steps.len();
    let later = steps.filter(was_played).count();
    if later > 0 {
        notes.push(format!("{later} later step(s) differ too"));
    }
    Some(Failure {
        differences,
        ..played.failure(index, notes)
    })
}

fn notes(played: &Played, index: usize) -> Vec<String> {
    let mut notes: Vec<String> = played
        .findings
        .iter()
        .filter(|(step, _)| *step == index)
        .map(|(_, what)| what.clone())
        .collect();
    notes.dedup();
    notes
}

/// The transcript in a snapshot file: what follows its front matter.
pub(crate) fn snapshot_text(file: &str) -> String {
    let content = file
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(file, |(_, content)| content);
    format!("{}\n", content.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_read_without_their_front_matter() {
        for (file, text) in [
            (
                "---\nsource: tests/x.rs\n---\nGET /\n  status = 200\n",
                "GET /\n  status = 200\n",
            ),
            ("GET /\n", "GET /\n"),
            ("---\nsource: x\n---\nGET /", "GET /\n"),
        ] {
            assert_eq!(snapshot_text(file), text);
        }
    }
}
