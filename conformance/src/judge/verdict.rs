//! Verdicts and their reasons.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::compare::compare;
use super::scenario_run::ScenarioRun;
use super::transcript::Transcript;
use crate::catalogue::Level;
use crate::judge::facts::{Fact, STATUS, any_status};

/// Verdict of the suite on one clause of a run. Only `Pass` counts as proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every expected fact is as in the snapshot.
    Pass,
    /// Something differs.
    Fail(Failure),
    /// An open clause: the transcript is recorded.
    Recorded,
    /// Nothing was judged.
    NotRun(Reason),
}

/// The first failed step of a scenario, with everything needed to reproduce it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Number of the step, from 1.
    pub step: usize,
    /// The request, as in the transcript: `PUT /v1/data/<ns>/a`.
    pub request: String,
    /// The last response to the request; none if no response arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
    /// Whether the request is only a precondition, so that the rule itself was not checked.
    #[serde(default)]
    pub blocked: bool,
    /// Deviations from the expectations, in the order of the facts of the step.
    pub differences: Vec<Difference>,
    /// Shell commands that repeat the scenario up to the step, one per request; tokens are written
    /// as `$CONFORMANCE_TOKEN`.
    pub curl: Vec<String>,
    /// Sentences on the failure: a failed prerequisite, no response, findings of the OpenAPI check,
    /// later steps that also differ.
    pub notes: Vec<String>,
}

/// Summary of a response, to group equal rejections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Status code.
    pub status: u16,
    /// The message of an error, media type and title of a page, or the start of another body, at
    /// most 120 characters; own names are replaced by `<ns>`. Empty without a body.
    pub message: String,
}

/// One fact, or one place inside a JSON value, that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, followed by the place inside its value: `status`, `/result`, `/result/0/name`.
    pub path: String,
    /// Value in the snapshot.
    pub expected: String,
    /// Value of the target.
    pub got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "step {}: {}", self.step, self.request)?;
        for note in &self.notes {
            write!(out, "\n  {note}")?;
        }
        for Difference {
            path,
            expected,
            got,
        } in &self.differences
        {
            write!(out, "\n  {path}: expected {expected}, got {got}")?;
        }
        for command in &self.curl {
            write!(out, "\n  {command}")?;
        }
        Ok(())
    }
}

/// Why a clause was not judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// The clause has no scenario yet.
    NoScenario,
    /// The rule has a scenario but no blessed snapshot.
    NoSnapshot,
    /// The target does not claim the capability named here.
    NotClaimed(String),
    /// The client does not support the operation named here.
    NotSupported(String),
    /// The target does not claim this rule of a capability that it claims.
    RuleNotClaimed,
    /// The target has no such API: `control` or `engine`.
    NoApi(String),
    /// The target cannot be started in the setup named here.
    NoSetup(String),
    /// The target is not configured with the suite's fixture server in the setup named here.
    #[serde(rename = "no-depot")]
    NoMock(String),
    /// The scenario needs a server that the suite starts for it alone.
    NotStarted,
    /// The target has no token for the role named here.
    NoToken(String),
    /// The scenario affects what others see, and the target is not known to be the user's own.
    NotOwned,
    /// The scenario does more than the mode named here allows.
    NotInMode(String),
    /// The scenario passed, though the target does not claim the capability named here.
    HoldsUnclaimed(String),
    /// The target could not be started or reached, or it died; the message says how.
    Unreachable(String),
    /// The target rejects all requests, or is something else; the message says what to do.
    Refused(String),
    /// The target already defines what the rule defines; the message says where.
    InTheWay(String),
    /// The stored evidence does not contain the scenario's requests.
    NoEvidence,
    /// The server does not show the rule's subject, as the documents allow; the message says what.
    NotShown(String),
    /// The scenario itself has a defect (see the run's defects).
    Defect,
    /// The run was interrupted before the verdict.
    Interrupted,
    /// The run stopped before the verdict, at the configured number of failures.
    Stopped,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoScenario => out.write_str("no scenario yet"),
            Self::NoSnapshot => out.write_str("no snapshot yet"),
            Self::NotClaimed(capability) => {
                write!(out, "the target does not claim `{capability}`")
            }
            Self::NotSupported(what) => write!(out, "the client does not support {what}"),
            Self::RuleNotClaimed => out.write_str("the target does not claim this rule"),
            Self::NoApi(api) => write!(out, "the target has no {api} address"),
            Self::NoSetup(setup) => write!(out, "the target has no setup `{setup}`"),
            Self::NoMock(setup) => write!(
                out,
                "the target is not configured with the suite's fixture server in its setup `{setup}`"
            ),
            Self::NotStarted => out.write_str("needs a server of its own, which the suite starts"),
            Self::NoToken(role) => write!(out, "the target has no token for `{role}`"),
            Self::NotOwned => out.write_str(
                "touches what others see; pass --allow-full-mode to run it off loopback",
            ),
            Self::NotInMode(mode) => write!(out, "does more than the mode `{mode}` allows"),
            Self::HoldsUnclaimed(capability) => {
                write!(out, "holds, but the target does not claim `{capability}`")
            }
            Self::Unreachable(what) | Self::NotShown(what) | Self::Refused(what) => {
                out.write_str(what)
            }
            Self::InTheWay(what) => write!(out, "the target has a policy of its own, {what}"),
            Self::NoEvidence => out.write_str("the evidence does not hold what the scenario asks"),
            Self::Defect => out.write_str("the scenario itself is at fault"),
            Self::Interrupted => out.write_str("interrupted"),
            Self::Stopped => out.write_str("the run had stopped after the failures before"),
        }
    }
}

/// Returns the verdict on a scenario that ran. `expected` is the blessed transcript.
pub(crate) fn verdict(level: Level, expected: Option<&str>, trace: &ScenarioRun) -> Verdict {
    if level == Level::Open {
        return Verdict::Recorded;
    }
    if let Some((index, why)) = trace.not_shown {
        let difference = || expected.and_then(|expected| difference(expected, trace));
        // Earlier failures are unrelated to it.
        return match early_failure(trace).or_else(difference) {
            Some(failure) if failure.step <= index => Verdict::Fail(failure),
            _ => Verdict::NotRun(Reason::NotShown(why.to_owned())),
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
