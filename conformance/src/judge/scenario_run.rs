//! Results of a scenario on a server, before their comparison with the snapshot.

use crate::http_client::wire::Wire;
use crate::http_client::{Base, curl};
use crate::judge::openapi::Finding;
use crate::judge::transcript::Transcript;
use crate::judge::verdict::{Answered, Failure};

/// Results of a scenario.
#[derive(Debug, Default)]
pub(crate) struct ScenarioRun {
    pub(crate) transcript: Transcript,
    /// Failure that ended the scenario, such as a missing response: no later request was sent.
    pub(crate) early_failure: Option<Failure>,
    /// Index of the step whose condition for running the rule was not met, and the reason in the
    /// scenario. No later request was sent.
    pub(crate) not_shown: Option<(usize, &'static str)>,
    /// Whether the failure is a missing response.
    pub(crate) unanswered: bool,
    /// Whether the timeout expired.
    pub(crate) slow: bool,
    /// The request of each step.
    pub(crate) sent: Vec<SentStep>,
    /// Violations of the OpenAPI document in judged responses: index of the step, and violation.
    pub(crate) findings: Vec<(usize, Finding)>,
}

/// The request of a step.
#[derive(Debug)]
pub(crate) struct SentStep {
    /// Name of the step, as in the transcript.
    pub(crate) name: String,
    /// Whether the step is only a precondition.
    pub(crate) given: bool,
    /// Recipient of the requests.
    pub(crate) base: Base,
    /// The last request.
    pub(crate) wire: Option<Wire>,
    /// Response to the last request, if any.
    pub(crate) answered: Option<Answered>,
}

impl ScenarioRun {
    /// Returns the failure at a step, with the commands that repeat the scenario up to it. If a
    /// step was sent several times, its last request represents all.
    pub(crate) fn failure(&self, index: usize, notes: Vec<String>) -> Failure {
        let sent = self.sent.get(..=index).unwrap_or(&self.sent);
        let again = |step: &SentStep| Some(curl::command(&step.base, step.wire.as_ref()?));
        Failure {
            step: index + 1,
            request: sent
                .last()
                .map_or_else(String::new, |step| step.name.clone()),
            answered: sent.last().and_then(|step| step.answered.clone()),
            blocked: sent.last().is_some_and(|step| step.given),
            differences: Vec::new(),
            curl: sent.iter().filter_map(again).collect(),
            notes,
        }
    }
}
