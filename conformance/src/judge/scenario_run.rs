//! Results of a scenario on a server, before they are compared.

use crate::http_client::wire::Wire;
use crate::http_client::{Base, curl};
use crate::judge::openapi::Finding;
use crate::judge::transcript::Transcript;
use crate::judge::verdict::{Answered, Failure};

/// What a scenario showed.
#[derive(Debug, Default)]
pub(crate) struct ScenarioRun {
    pub(crate) transcript: Transcript,
    /// What went wrong before any comparison: nothing was judged from there on.
    pub(crate) early_failure: Option<Failure>,
    /// The step that did not show what the rule is about, by its index, and what that was: from
    /// there on nothing was judged.
    pub(crate) not_shown: Option<(usize, &'static str)>,
    /// Whether the trouble is that no answer came.
    pub(crate) unanswered: bool,
    /// Whether it was waited for to the end of the time limit.
    pub(crate) slow: bool,
    /// For each step what it sent.
    pub(crate) sent: Vec<SentStep>,
    /// Where judged answers break the OpenAPI document: index of the step, and how.
    pub(crate) findings: Vec<(usize, Finding)>,
}

/// What a step sent.
#[derive(Debug)]
pub(crate) struct SentStep {
    /// The step, as the transcript names it.
    pub(crate) name: String,
    /// Whether it only sets the scene.
    pub(crate) given: bool,
    /// Where its requests go.
    pub(crate) base: Base,
    /// The last of them.
    pub(crate) wire: Option<Wire>,
    /// What came back for it, if anything did.
    pub(crate) answered: Option<Answered>,
}

impl ScenarioRun {
    /// The failure at a step, with the commands that repeat the scenario up to it. Of a step
    /// that was sent several times the last request stands for all.
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
