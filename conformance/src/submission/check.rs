//! Judges the evidence of a submission again, and holds its report and its place against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{EVIDENCE, FILES, NEEDED, REPORT, digest, gist, names, report};
use crate::catalogue::Profile;
use crate::evidence::{Event, RunStarted};
use crate::report::{Digest, Row, Standing};
use crate::run::{Suite, SuiteError};

/// Longest evidence that is read, in bytes after unpacking.
const MOST: u64 = 256 * 1024 * 1024;
/// So many rules are named that the evidence says otherwise of.
const NAMED: usize = 5;

/// Why a submission is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A file that cannot be read, is missing, or is no part of a submission.
    #[error("{0}: {1}")]
    File(String, String),
    /// The evidence does not hold a whole run.
    #[error("the evidence is cut: {0}")]
    Cut(String),
    /// The evidence says what no run can have shown.
    #[error("the evidence is not of a run: {0}")]
    Untrue(String),
    /// It is of no profile, or of one that this program does not know, or knows otherwise.
    #[error("the edition is foreign: {0}")]
    Edition(String),
    /// The folder is named after something else.
    #[error("the folder says {0}, the evidence says {1}")]
    Place(String, String),
    /// Judged again, rules come to something else.
    #[error("the outcome differs: {0}")]
    Outcome(String),
    /// The report says what the evidence does not.
    #[error("the report is not of this evidence: {0}")]
    Report(String),
}

/// Checks the submission in a folder `PROFILE/NAME/VERSION`, and says how its implementation
/// stands.
///
/// # Errors
/// With the first reason why it is not accepted.
pub fn check(folder: &Path) -> Result<Standing, Refused> {
    files(folder)?;
    let events = read(folder)?;
    let started = whole(&events)?.clone();
    let profile = profile(&started)?;
    covers(&events, &started, profile)?;
    let claimed = digest(events.clone());
    place(folder, &started, profile)?;
    let again = Suite::judge_again(events).map_err(|why| match why {
        SuiteError::Evidence(why) => Refused::Untrue(why),
        why => Refused::Cut(why.to_string()),
    })?;
    let again = digest(again);
    same_outcome(&claimed, &again)?;
    let text = fs::read_to_string(folder.join(REPORT));
    let text = text.map_err(|why| Refused::File(REPORT.to_owned(), why.to_string()))?;
    let told: Value = serde_json::from_str(&text)
        .map_err(|why| Refused::File(REPORT.to_owned(), why.to_string()))?;
    let follows = report(&claimed).map_err(Refused::Report)?;
    same_report(&told, &follows)?;
    let standing = again.standing();
    standing.ok_or_else(|| Refused::Edition("no profile".to_owned()))
}

/// The folder holds what it has to, and nothing else.
fn files(folder: &Path) -> Result<(), Refused> {
    let at =
        |name: &str, why: &dyn std::fmt::Display| Refused::File(name.to_owned(), why.to_string());
    let whole = folder.display().to_string();
    let entries = fs::read_dir(folder).map_err(|why| at(&whole, &why))?;
    let mut found = BTreeSet::new();
    for entry in entries {
        let entry = entry.map_err(|why| at(&whole, &why))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !FILES.contains(&name.as_str()) || !entry.path().is_file() {
            return Err(at(&name, &"is no part of a submission"));
        }
        found.insert(name);
    }
    match NEEDED.iter().find(|name| !found.contains(**name)) {
        Some(name) => Err(at(name, &"is missing")),
        None => Ok(()),
    }
}

/// The events of a submission.
///
/// # Errors
/// Evidence that cannot be read, or that is cut inside of a line.
pub fn read(folder: &Path) -> Result<Vec<Event>, Refused> {
    let at = |why: &dyn std::fmt::Display| Refused::File(EVIDENCE.to_owned(), why.to_string());
    let file = fs::File::open(folder.join(EVIDENCE)).map_err(|why| at(&why))?;
    let mut text = String::new();
    let mut unpacked = GzDecoder::new(file).take(MOST + 1);
    unpacked
        .read_to_string(&mut text)
        .map_err(|why| Refused::Cut(why.to_string()))?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MOST) {
        return Err(at(&"is longer than 256 MiB"));
    }
    if !text.ends_with('\n') {
        return Err(Refused::Cut("its last line breaks off".to_owned()));
    }
    let event = |(line, number): (&str, usize)| {
        serde_json::from_str(line).map_err(|why| at(&format!("line {number}: {why}")))
    };
    text.lines().zip(1..).map(event).collect()
}

/// One run from its start to its end.
fn whole(events: &[Event]) -> Result<&RunStarted, Refused> {
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
            "{} {} with the rules {} is none that this program knows",
            named.name, named.edition, named.frozen
        ))
    })
}

/// Every rule of the profile was chosen, and has one verdict.
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
            "{rule} is no rule of the profile"
        ))),
        None => Ok(()),
    }
}

/// The folder is named after what was judged.
fn place(folder: &Path, started: &RunStarted, profile: &Profile) -> Result<(), Refused> {
    let (name, version) = names(&started.target);
    let parts = folder.components().rev().take(3);
    let parts = parts.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let mut said: Vec<String> = parts.collect();
    said.reverse();
    let (said, is) = (said.join("/"), format!("{}/{name}/{version}", profile.name));
    match said == is {
        true => Ok(()),
        false => Err(Refused::Place(said, is)),
    }
}

/// Judged again, every rule comes to the same.
fn same_outcome(claimed: &Digest, again: &Digest) -> Result<(), Refused> {
    let before: BTreeMap<&str, &Row> = claimed
        .rows
        .iter()
        .map(|row| (row.judged.rule.as_str(), row))
        .collect();
    let mut differ = Vec::new();
    for row in &again.rows {
        let rule = row.judged.rule.as_str();
        let Some(before) = before.get(rule) else {
            continue;
        };
        if before.outcome != row.outcome {
            let why = row
                .reason()
                .map_or_else(String::new, |why| format!(" ({why})"));
            let (said, is) = (before.outcome.name(), row.outcome.name());
            differ.push(format!("{rule} is said to be {said}, and is {is}{why}"));
        }
    }
    if again.rows.len() != claimed.rows.len() {
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

/// The report says what follows from the evidence.
fn same_report(told: &Value, follows: &Value) -> Result<(), Refused> {
    let (told, follows) = (gist(told), gist(follows));
    let differs = told
        .iter()
        .zip(&follows)
        .find(|(told, follows)| told != follows);
    match differs {
        Some((told, follows)) => Err(Refused::Report(format!(
            "{} is {} in it, and {} is {} by the evidence",
            told.0, told.1, follows.0, follows.1
        ))),
        None if told.len() != follows.len() => Err(Refused::Report(
            "it does not have the same rules".to_owned(),
        )),
        None => Ok(()),
    }
}
