//! Verdict on a scenario that ran: compares its results with the snapshot.

use super::compare::compare;
use super::scenario_run::ScenarioRun;
use super::transcript::Transcript;
use super::verdict::{Difference, Failure, Reason, Verdict};
use crate::catalogue::Level;
use crate::judge::facts::{Fact, STATUS, any_status};

/// Returns the verdict on a scenario that ran. `expected` is the blessed transcript.
pub(crate) fn verify(level: Level, expected: Option<&str>, trace: &ScenarioRun) -> Verdict {
    if level == Level::Open {
        return Verdict::Recorded;
    }
    if let Some((index, reason)) = trace.not_shown {
        let difference = || expected.and_then(|expected| difference(expected, trace));
        // Earlier failures are unrelated to it.
        return match early_failure(trace).or_else(difference) {
            Some(failure) if failure.step <= index => Verdict::Fail(failure),
            _ => Verdict::NotRun(Reason::NotShown(reason.to_owned())),
        };
    }
    match (early_failure(trace), expected) {
        (Some(failure), None) => Verdict::Fail(failure),
        // The first failure may cause the others.
        (Some(failure), Some(expected)) => match difference(expected, trace) {
            Some(earlier) if earlier.step < failure.step => Verdict::Fail(earlier),
            // A response that breaks the OpenAPI document also differs from the snapshot.
            Some(same) if same.step == failure.step && trace.early_failure.is_none() => {
                Verdict::Fail(status_first(same, trace))
            }
            _ if trace.unanswered => Verdict::Fail(with_expected_status(failure, expected)),
            _ => Verdict::Fail(failure),
        },
        (None, None) => Verdict::NotRun(Reason::NoSnapshot),
        (None, Some(expected)) => difference(expected, trace).map_or(Verdict::Pass, Verdict::Fail),
    }
}

/// Returns the failure that is independent of the snapshot: a step that could not go on, or a
/// response that breaks the OpenAPI document.
pub(crate) fn early_failure(trace: &ScenarioRun) -> Option<Failure> {
    if let Some(failure) = &trace.early_failure {
        return Some(failure.clone());
    }
    let (index, _) = trace.findings.first()?;
    let failure = trace.failure(*index, notes(trace, *index));
    Some(status_first(failure, trace))
}

/// Moves the difference of the status, if any, to the front. If the snapshot has no status, that of
/// the OpenAPI document is used.
fn status_first(mut failure: Failure, trace: &ScenarioRun) -> Failure {
    let is_status = |one: &Difference| one.path == STATUS;
    if let Some(place) = failure.differences.iter().position(is_status) {
        let status = failure.differences.remove(place);
        failure.differences.insert(0, status);
        return failure;
    }
    let step = trace.transcript.steps.get(failure.step.saturating_sub(1));
    let expects_error = expects_error(step.map_or(&[], |step| &step.facts));
    let mut findings = trace.findings.iter();
    let finding = findings.find(|(index, _)| index + 1 == failure.step);
    if let (Some((_, finding)), Some(expects_error)) = (finding, expects_error) {
        let mut codes = finding.documented.clone();
        codes.retain(|code| (*code >= 400) == expects_error);
        let expected = match codes.as_slice() {
            [] => return failure,
            [code] => code.to_string(),
            codes => any_status(codes),
        };
        let difference = Difference {
            path: STATUS.to_owned(),
            expected,
            got: finding.status.to_string(),
        };
        failure.differences.insert(0, difference);
    }
    failure
}

/// Whether a step with these facts expects an error. None if it accepts both.
fn expects_error(facts: &[Fact]) -> Option<bool> {
    let of_error = |key: &str| {
        let place = key.trim_start_matches("each ");
        ["/code", "/message", "/error"]
            .into_iter()
            .any(|start| place.starts_with(start))
    };
    if facts.iter().any(|fact| fact.key == "answer") {
        return None;
    }
    let refuses = |fact: &Fact| match fact.key.as_str() {
        STATUS => {
            fact.value == "<error>" || fact.value.trim_start_matches('<').starts_with(['4', '5'])
        }
        key => of_error(key),
    };
    Some(facts.iter().any(refuses))
}

/// Adds the expected status to a failure without a response.
fn with_expected_status(mut failure: Failure, expected: &str) -> Failure {
    let steps = Transcript::parse(expected).steps;
    let step = failure.step.checked_sub(1).and_then(|step| steps.get(step));
    let mut facts = step.into_iter().flat_map(|step| &step.facts);
    let status = facts.find(|fact| fact.key == STATUS);
    if let (Some(status), Some(got)) = (status, failure.notes.first().cloned()) {
        failure.notes.remove(0);
        failure.differences.push(Difference {
            path: status.key.clone(),
            expected: status.value.clone(),
            got,
        });
    }
    failure
}

/// Returns the first step that differs from the blessed transcript.
fn difference(expected: &str, trace: &ScenarioRun) -> Option<Failure> {
    if trace.transcript.to_string() == expected {
        return None;
    }
    let mut steps = compare(&Transcript::parse(expected), &trace.transcript).into_iter();
    let (index, differences) = steps.next()?;
    let mut notes = notes(trace, index);
    let was_run = |(index, _): &(usize, _)| *index < trace.transcript.steps.len();
    let later = steps.filter(was_run).count();
    if later > 0 {
        notes.push(format!("{later} later step(s) differ too"));
    }
    Some(Failure {
        differences,
        ..trace.failure(index, notes)
    })
}

fn notes(trace: &ScenarioRun, index: usize) -> Vec<String> {
    let mut notes: Vec<String> = trace
        .findings
        .iter()
        .filter(|(step, _)| *step == index)
        .map(|(_, finding)| finding.what.clone())
        .collect();
    notes.dedup();
    notes
}
