//! Verifies a submission: judges its evidence again, and compares the report and folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use flate2::bufread::GzDecoder;
use serde_json::Value;

use super::folder::Folder;
use super::refused::Refused;
use super::{EVIDENCE, README, REPORT, TARGET, comparable_parts, digest, is_plain, names, report};
use crate::catalogue::Profile;
use crate::evidence::{Event, RunStarted};
use crate::report::{Digest, ProfileResult, Row};
use crate::run::{Suite, SuiteError};

/// Maximum length of evidence, in bytes after decompression.
const MOST: u64 = 64 * 1024 * 1024;
/// Maximum length of an event, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;
/// Maximum number of items in all lists of the evidence: an item needs more memory than bytes in a
/// line.
const ITEMS: usize = 1_000_000;
/// Maximum number of rules with different results that are named.
const NAMED: usize = 5;

/// A submission whose report matches its evidence.
#[derive(Debug)]
pub struct Accepted {
    /// Result of the implementation by the profile.
    pub standing: ProfileResult,
    /// Events of the run, with the verdicts of this program.
    pub events: Vec<Event>,
}

/// Checks the submission in a folder `PROFILE/NAME/VERSION`. Links are not followed, and file sizes
/// are limited.
///
/// # Errors
/// The first reason why the submission is not accepted.
pub fn check(path: &Path) -> Result<Accepted, Refused> {
    let folder = Folder::open(path)?;
    for name in [README, TARGET] {
        if name == README || folder.contains(name) {
            folder.read(name)?;
        }
    }
    let events = events(&folder.read(EVIDENCE)?)?;
    let started = complete_run(&events)?.clone();
    let profile = profile(&started)?;
    place(path, &started, profile)?;
    covers(&events, &started, profile)?;
    let claimed = events
        .iter()
        .filter(|event| !matches!(event, Event::Exchange(_)));
    let claimed = digest(claimed.cloned().collect());
    let events = Suite::judge_again(events).map_err(|error| match error {
        SuiteError::Evidence(error) => Refused::Untrue(error),
        error => Refused::Cut(error.to_string()),
    })?;
    let rejudged = digest(events.clone());
    same_outcome(&claimed, &rejudged)?;
    let reported: Value = serde_json::from_slice(&folder.read(REPORT)?)
        .map_err(|error| Refused::file(REPORT, &error))?;
    let expected = report(&claimed).map_err(Refused::Report)?;
    same_report(&reported, &expected)?;
    let standing = rejudged.standing();
    let standing = standing.ok_or_else(|| Refused::Edition("no profile".to_owned()))?;
    Ok(Accepted { standing, events })
}

/// Reads the events of compressed evidence.
///
/// # Errors
/// The evidence cannot be read, ends inside a line, or is too large.
fn events(packed: &[u8]) -> Result<Vec<Event>, Refused> {
    let to_refused = |error: &dyn std::fmt::Display| Refused::file(EVIDENCE, error);
    let mut unpacked = GzDecoder::new(packed);
    let mut text = BufReader::new((&mut unpacked).take(MOST + 1));
    let (mut events, mut line) = (Vec::new(), Vec::new());
    let (mut length, mut items) = (0, 0);
    for number in 1.. {
        line.clear();
        let read = (&mut text).take(LONGEST + 1).read_until(b'\n', &mut line);
        let read = read.map_err(|error| Refused::Cut(error.to_string()))?;
        length += u64::try_from(read).unwrap_or(u64::MAX);
        if length > MOST {
            return Err(to_refused(&"is longer than 64 MiB when it is unpacked"));
        }
        if u64::try_from(line.len()).is_ok_and(|length| length > LONGEST) {
            return Err(to_refused(&format!("line {number} is longer than 16 MiB")));
        }
        if read == 0 {
            break;
        }
        if !line.ends_with(b"\n") {
            return Err(Refused::Cut("its last line breaks off".to_owned()));
        }
        let wrong = |error: &dyn std::fmt::Display| to_refused(&format!("line {number}: {error}"));
        let event = std::str::from_utf8(&line).map_err(|error| wrong(&error))?;
        let event = Event::read(event).map_err(|error| wrong(&error))?;
        items += event.items();
        if items > ITEMS {
            return Err(to_refused(&format!(
                "its lists have more than {ITEMS} items"
            )));
        }
        events.push(event);
    }
    drop(text);
    match unpacked.into_inner().is_empty() {
        true => Ok(events),
        false => Err(to_refused(&"goes on behind its end")),
    }
}

/// Checks that the events are of one complete run.
fn complete_run(events: &[Event]) -> Result<&RunStarted, Refused> {
    let cut = |why: &str| Err(Refused::Cut(why.to_owned()));
    let starts = events
        .iter()
        .filter(|event| matches!(event, Event::RunStarted(_)));
    if starts.count() != 1 {
        return cut("it does not hold exactly one run");
    }
    let Some(Event::RunStarted(started)) = events.first() else {
        return cut("it does not begin with the start of the run");
    };
    match events.last() {
        Some(Event::RunFinished(end)) if end.interrupted => cut("the run was stopped"),
        Some(Event::RunFinished(end)) => match &end.unreachable {
            None => Ok(&**started),
            Some(why) => cut(&format!("the target was not reached to the end: {why}")),
        },
        _ => cut("it does not end with the end of the run"),
    }
}

fn profile(started: &RunStarted) -> Result<&'static Profile, Refused> {
    let foreign = |why: String| Refused::Edition(why);
    let named = started.profile.as_ref();
    let named = named.ok_or_else(|| foreign("the run was not by a profile".to_owned()))?;
    named.known().ok_or_else(|| {
        foreign(format!(
            "{} {} with the rules {} is not known to this version",
            named.name, named.edition, named.frozen
        ))
    })
}

/// Checks that every rule of the profile was chosen, and has one verdict.
fn covers(events: &[Event], started: &RunStarted, profile: &Profile) -> Result<(), Refused> {
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        if let Event::Judged(judged) = event {
            *verdicts.entry(&judged.rule).or_default() += 1;
        }
    }
    let chosen: BTreeSet<&str> = started.chosen.iter().map(|one| one.rule.as_str()).collect();
    for rule in profile.rules() {
        let count = verdicts.get(rule.as_str()).copied().unwrap_or_default();
        if count != 1 || !chosen.contains(rule.as_str()) {
            return Err(Refused::Cut(format!(
                "{rule} has {count} verdicts, not one"
            )));
        }
    }
    match verdicts.keys().find(|rule| profile.binding(rule).is_none()) {
        Some(rule) => Err(Refused::Outcome(format!(
            "{rule} is not a rule of the profile"
        ))),
        None => Ok(()),
    }
}

/// Checks that the folder's name matches what was judged.
fn place(folder: &Path, started: &RunStarted, profile: &Profile) -> Result<(), Refused> {
    let (name, version) = names(&started.target);
    let parts = folder.components().rev().take(3);
    let parts = parts.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let mut actual: Vec<String> = parts.collect();
    actual.reverse();
    let (actual, expected) = (
        actual.join("/"),
        format!("{}/{name}/{version}", profile.name),
    );
    match actual == expected && is_plain(name) && is_plain(version) {
        true => Ok(()),
        false => Err(Refused::Place(actual, expected)),
    }
}

/// Checks that every rule has the same result when judged again.
fn same_outcome(claimed: &Digest, rejudged: &Digest) -> Result<(), Refused> {
    let before: BTreeMap<&str, &Row> = claimed
        .rows
        .iter()
        .map(|row| (row.judged.rule.as_str(), row))
        .collect();
    let mut differ = Vec::new();
    for row in &rejudged.rows {
        let rule = row.judged.rule.as_str();
        let Some(before) = before.get(rule) else {
            continue;
        };
        if before.outcome != row.outcome {
            let why = row
                .reason()
                .map_or_else(String::new, |why| format!(" ({why})"));
            let (claimed_outcome, actual_outcome) = (before.outcome.name(), row.outcome.name());
            differ.push(format!(
                "{rule} is said to be {claimed_outcome}, and is {actual_outcome}{why}"
            ));
        }
    }
    if rejudged.rows.len() != claimed.rows.len() {
        differ.push("rules are missing that were chosen".to_owned());
    }
    let more = differ.len().saturating_sub(NAMED);
    match (differ.is_empty(), more) {
        (true, _) => Ok(()),
        (false, 0) => Err(Refused::Outcome(differ.join("; "))),
        (false, more) => {
            differ.truncate(NAMED);
            Err(Refused::Outcome(format!(
                "{}; and {more} more",
                differ.join("; ")
            )))
        }
    }
}

/// Checks that the report matches the evidence.
fn same_report(reported: &Value, expected: &Value) -> Result<(), Refused> {
    let (reported, expected) = (comparable_parts(reported), comparable_parts(expected));
    let differs = reported
        .iter()
        .zip(&expected)
        .find(|(reported, expected)| reported != expected);
    match differs {
        Some((reported, expected)) => Err(Refused::Report(format!(
            "{} is {} in it, and {} is {} by the evidence",
            reported.0, reported.1, expected.0, expected.1
        ))),
        None if reported.len() != expected.len() => Err(Refused::Report(
            "it does not have the same rules".to_owned(),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write as _};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &str) -> io::Result<Vec<u8>> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes())?;
        packed.finish()
    }

    #[test]
    fn evidence_has_limits() -> io::Result<()> {
        let event = "{\"event\":\"leaked\",\"names\":[]}\n";
        let line = |items: usize| event.replace("[]", &format!("[\"\"{}]", ",\"\"".repeat(items)));
        let long = |length: u64| " ".repeat(usize::try_from(length).unwrap_or_default()) + event;
        for (case, text, why) in [
            ("short", event.to_owned(), ""),
            (
                "items",
                line(ITEMS / 2).repeat(2),
                "more than 1000000 items",
            ),
            ("a line", long(LONGEST), "line 1 is longer than 16 MiB"),
            (
                "lines",
                long(LONGEST / 2).repeat(8),
                "is longer than 64 MiB",
            ),
            ("deep", "[".repeat(1_000_000) + "\n", "line 1: "),
            (
                "cut",
                event.trim_end().to_owned(),
                "its last line breaks off",
            ),
        ] {
            let message = events(&packed(&text)?).err().map(|why| why.to_string());
            let message = message.unwrap_or_default();
            assert!(
                message.contains(why) && message.is_empty() == why.is_empty(),
                "{case}: {message}"
            );
        }
        let more = [packed(event)?, b"more".to_vec()].concat();
        let message = events(&more).err().map(|why| why.to_string());
        assert!(message.is_some_and(|message| message.contains("goes on behind its end")));
        Ok(())
    }
}
