//! Verdicts and their reasons.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::compare::compare;
use super::scenario_run::ScenarioRun;
use super::transcript::Transcript;
use crate::catalogue::Level;
use crate::judge::facts::{Fact, STATUS, among};

/// What the suite says about one clause of a run. Only `Pass` counts as proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every expected fact is as the snapshot states it.
    Pass,
    /// Something differs.
    Fail(Failure),
    /// An open clause: the transcript is recorded.
    Recorded,
    /// Nothing was judged.
    NotRun(Reason),
}

/// The first step of a scenario that went wrong, with all that is needed to see it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Number of the step, from 1.
    pub step: usize,
    /// The request, as the transcript names it: `PUT /v1/data/<ns>/a`.
    pub request: String,
    /// The last answer to the request; none when no answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
    /// Whether the request only sets the scene, so that what the rule says was not looked at.
    #[serde(default)]
    pub blocked: bool,
    /// What is not as expected, in the order of the step's facts.
    pub differences: Vec<Difference>,
    /// Shell commands that repeat the scenario up to the step, one a request; tokens stand as
    /// `$CONFORMANCE_TOKEN`.
    pub curl: Vec<String>,
    /// Sentences on the failure: a failed prerequisite, no answer, findings of the OpenAPI
    /// check, later steps that differ too.
    pub notes: Vec<String>,
}

/// What tells answers that refuse alike from others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Status code.
    pub status: u16,
    /// The message of an error, media type and title of a page, or how the body of another answer
    /// begins, at most 120 characters; own names stand as `<ns>`. Empty without a body.
    pub message: String,
}

/// One fact, or one place inside a JSON value, that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The fact, followed by the place inside its value: `status`, `/result`, `/result/0/name`.
    pub path: String,
    /// What the snapshot states.
    pub expected: String,
    /// What the target showed.
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
pub enum Reason {
    /// The clause has no scenario yet.
    NoScenario,
    /// The rule has a scenario but no blessed snapshot.
    NoSnapshot,
    /// The target does not claim the capability named here.
    NotClaimed(String),
    /// The client cannot do what is named here.
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
    /// The scenario touches what others see, and the target is not known to be the user's own.
    NotOwned,
    /// The scenario does more than the mode named here allows.
    NotInMode(String),
    /// The scenario held, though the target does not claim the capability named here.
    HoldsUnclaimed(String),
    /// The target could not be started or reached, or it died; the message says how.
    Unreachable(String),
    /// The target lets nobody in, or is something else; the message says what, and what to do.
    Refused(String),
    /// What the rule defines, the target has defined already; the message says where.
    InTheWay(String),
    /// The evidence that is judged again does not hold what the scenario asks.
    NoEvidence,
    /// The server does not show what the rule is about, as the documents allow; the sentence says
    /// what.
    NotShown(String),
    /// The scenario itself is at fault (see the run's defects).
    Defect,
    /// The run was interrupted before the verdict.
    Interrupted,
    /// The run stopped before the verdict, after as many failures as it was told to bear.
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

/// The verdict on a scenario that ran. `expected` is the blessed transcript.
pub(crate) fn verdict(level: Level, expected: Option<&str>, trace: &ScenarioRun) -> Verdict {
    if level == Level::Open {
        return Verdict::Recorded;
    }
    if let Some((index, why)) = trace.not_shown {
        let difference = || expected.and_then(|expected| difference(expected, trace));
        // What went wrong before has nothing to do with it.
        return match early_failure(trace).or_else(difference) {
            Some(failure) if failure.step <= index => Verdict::Fail(failure),
            _ => Verdict::NotRun(Reason::NotShown(why.to_owned())),
        };
    }
    match (early_failure(trace), expected) {
        (Some(failure), None) => Verdict::Fail(failure),
        // What went wrong first may be the reason for the rest.
        (Some(failure), Some(expected)) => match difference(expected, trace) {
            Some(earlier) if earlier.step < failure.step => Verdict::Fail(earlier),
            // An answer that breaks the OpenAPI document also differs from the snapshot.
            Some(same) if same.step == failure.step && trace.early_failure.is_none() => {
                Verdict::Fail(status_first(same, trace))
            }
            _ if trace.unanswered => Verdict::Fail(beside_expected(failure, expected)),
            _ => Verdict::Fail(failure),
        },
        (None, None) => Verdict::NotRun(Reason::NoSnapshot),
        (None, Some(expected)) => difference(expected, trace).map_or(Verdict::Pass, Verdict::Fail),
    }
}

/// What went wrong whatever was expected: a step that could not go on, or an answer that breaks
/// the OpenAPI document.
pub(crate) fn early_failure(trace: &ScenarioRun) -> Option<Failure> {
    if let Some(failure) = &trace.early_failure {
        return Some(failure.clone());
    }
    let (index, _) = trace.findings.first()?;
    let failure = trace.failure(*index, notes(trace, *index));
    Some(status_first(failure, trace))
}

/// A failure with its difference of the status, if there is one, before all others. Where the
/// snapshot does not tell the status, the OpenAPI document does.
fn status_first(mut failure: Failure, trace: &ScenarioRun) -> Failure {
    let told = |one: &Difference| one.path == STATUS;
    if let Some(place) = failure.differences.iter().position(told) {
        let status = failure.differences.remove(place);
        failure.differences.insert(0, status);
        return failure;
    }
    let step = trace.transcript.steps.get(failure.step.saturating_sub(1));
    let wants_refusal = wants_refusal(step.map_or(&[], |step| &step.facts));
    let mut findings = trace.findings.iter();
    let finding = findings.find(|(index, _)| index + 1 == failure.step);
    if let (Some((_, finding)), Some(wants_refusal)) = (finding, wants_refusal) {
        let mut codes = finding.documented.clone();
        codes.retain(|code| (*code >= 400) == wants_refusal);
        let expected = match codes.as_slice() {
            [] => return failure,
            [code] => code.to_string(),
            codes => among(codes),
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

/// Whether a step that keeps these facts wants an error. None where it bears both.
fn wants_refusal(facts: &[Fact]) -> Option<bool> {
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

/// A failure for want of an answer, beside the status that was expected of it.
fn beside_expected(mut failure: Failure, expected: &str) -> Failure {
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

/// The first step that differs from the blessed transcript.
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
