//! Verdicts and their reasons.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Verdict of the suite on one clause of a run. Only `Pass` counts as proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every expected fact is as in the snapshot.
    Pass,
    /// A step failed, or a fact differs from the snapshot.
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
    /// Message of an error, media type and title of a markup page, or start of another body; at
    /// most 120 characters, with the scenario's namespace as `<ns>`. Empty without a body.
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

/// Reason why a clause was not judged.
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
    /// The target rejects all requests, or does not serve this API; the message says what to do.
    Refused(String),
    /// The target already has a policy module that defines what the scenario defines; the message
    /// names it.
    InTheWay(String),
    /// The stored evidence does not contain the scenario's requests.
    NoEvidence,
    /// The server does not show the behaviour that the rule is about, which the documents allow;
    /// the message says what.
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
            Self::NotStarted => out.write_str("needs a separate server, started by the suite"),
            Self::NoToken(role) => write!(out, "the target has no token for `{role}`"),
            Self::NotOwned => out.write_str(
                "changes state that other clients see; pass --allow-full-mode to run it on a \
                 non-loopback target",
            ),
            Self::NotInMode(mode) => write!(out, "does more than the mode `{mode}` allows"),
            Self::HoldsUnclaimed(capability) => {
                write!(out, "holds, but the target does not claim `{capability}`")
            }
            Self::Unreachable(what) | Self::NotShown(what) | Self::Refused(what) => {
                out.write_str(what)
            }
            Self::InTheWay(what) => write!(out, "the target already has a policy, {what}"),
            Self::NoEvidence => {
                out.write_str("the evidence does not contain the requests of the scenario")
            }
            Self::Defect => out.write_str("the scenario itself has a defect"),
            Self::Interrupted => out.write_str("interrupted"),
            Self::Stopped => {
                out.write_str("the run stopped earlier, at the maximum number of failures")
            }
        }
    }
}
