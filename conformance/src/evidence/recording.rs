//! Replays the responses of an earlier run in place of the server.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use super::request_match::{RequestMatch, Secrets, compare};
use crate::evidence::{Exchange, Payload, ReceivedResponse};
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::wire::Wire;
use crate::sync::lock;

/// The exchanges of one rule, by step number, in the order in which they occurred.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    state: Mutex<State>,
    secrets: Secrets,
}

#[derive(Debug, Default)]
struct State {
    steps: BTreeMap<usize, VecDeque<Exchange>>,
    /// Requests that removed the scenario's resources.
    cleanup: Vec<Exchange>,
    /// Address of the API by identity and the scheme and authority of the request.
    bases: BTreeMap<(String, String), String>,
    /// Whether a request was made that the recording does not contain.
    lacks: bool,
    /// Description of a recorded exchange that cannot have occurred in any run.
    untrue: Option<String>,
}

impl Recording {
    /// Creates a recording of these exchanges.
    pub(crate) fn of(exchanges: impl IntoIterator<Item = Exchange>, secrets: Secrets) -> Self {
        let mut state = State::default();
        for exchange in exchanges {
            match exchange.step {
                0 => state.cleanup.push(exchange),
                step => state.steps.entry(step).or_default().push_back(exchange),
            }
        }
        Self {
            state: Mutex::new(state),
            secrets,
        }
    }

    /// Creates a recording of these exchanges, with the response at index `at` replaced.
    pub(crate) fn with(
        exchanges: &[Exchange],
        index: usize,
        received: ReceivedResponse,
        secrets: Secrets,
    ) -> Self {
        let mut exchanges = exchanges.to_vec();
        if let Some(exchange) = exchanges.get_mut(index) {
            exchange.response = Some(received);
            exchange.error = None;
        }
        Self::of(exchanges, secrets)
    }

    /// Returns the next response of a step to this identity.
    ///
    /// # Errors
    /// The error that the earlier run had in place of a response, or a message that the recording
    /// has another request here or no more exchanges of this step.
    pub(crate) fn answer(
        &self,
        step: usize,
        identity: &str,
        wire: &Wire,
    ) -> Result<Answer, NoAnswer> {
        let mut state = lock(&self.state);
        let next = state.steps.get_mut(&step).and_then(VecDeque::pop_front);
        let Some(exchange) = next else {
            state.lacks = true;
            return Err(NoAnswer::new("the evidence holds no answer to it"));
        };
        match compare(&exchange.request, identity, wire, &self.secrets) {
            RequestMatch::Same(_) if exchange.identity != identity => {
                let who = &exchange.identity;
                return Err(state.refuse(&exchange, &format!("asked by `{who}`, not `{identity}`")));
            }
            RequestMatch::Same(base) => {
                let origin: Vec<&str> = base.splitn(4, '/').take(3).collect();
                let key = (identity.to_owned(), origin.join("/"));
                let first_base = state.bases.entry(key).or_insert_with(|| base.clone());
                let first_base = first_base.clone();
                if first_base != base {
                    let reason = format!("sent to `{base}`, not `{first_base}` as the one before");
                    return Err(state.refuse(&exchange, &reason));
                }
            }
            RequestMatch::Untrue(reason) => return Err(state.refuse(&exchange, &reason)),
            RequestMatch::Other => {
                state.lacks = true;
                let request = &exchange.request;
                let message = format!(
                    "the evidence holds another request here: {} {}",
                    request.method, request.url
                );
                return Err(NoAnswer::new(message));
            }
        }
        match exchange.response {
            Some(received) if received.body.is_cut() => {
                state.lacks = true;
                Err(NoAnswer::new("the evidence holds only the start of it"))
            }
            Some(received) => {
                let mut response = answer(received);
                response.milliseconds = exchange.milliseconds;
                Ok(response)
            }
            None => Err(NoAnswer::new(exchange.error.unwrap_or_default())),
        }
    }

    /// Whether a request was made that the recording does not contain.
    pub(crate) fn is_incomplete(&self) -> bool {
        lock(&self.state).lacks
    }

    /// Whether the recording has more responses of a step.
    pub(crate) fn has_more(&self, step: usize) -> bool {
        let state = lock(&self.state);
        state
            .steps
            .get(&step)
            .is_some_and(|remaining| !remaining.is_empty())
    }

    /// Returns why no run can have recorded these exchanges. Valid after the scenario: then every
    /// exchange was requested once, and the remaining ones removed a resource at the same address.
    pub(crate) fn untrue(&self) -> Option<String> {
        let state = lock(&self.state);
        if state.untrue.is_some() || state.lacks {
            return state.untrue.clone();
        }
        if let Some(unused) = state.steps.values().flatten().next() {
            return Some(untrue_exchange(unused, "the scenario does not ask for it"));
        }
        let is_removal = |exchange: &&Exchange| {
            let request = &exchange.request;
            let below = |base: &String| {
                let path = request.url.strip_prefix(base.as_str());
                path.is_some_and(|path| path.starts_with('/'))
            };
            request.method == "DELETE"
                && request.body == Payload::Empty
                && exchange.identity == "administrator"
                && state.bases.values().any(below)
        };
        let other = state.cleanup.iter().find(|exchange| !is_removal(exchange));
        other
            .map(|exchange| untrue_exchange(exchange, "it removes nothing that the scenario makes"))
    }
}

impl State {
    fn refuse(&mut self, exchange: &Exchange, reason: &str) -> NoAnswer {
        self.untrue
            .get_or_insert_with(|| untrue_exchange(exchange, reason));
        NoAnswer::new(reason)
    }
}

/// Formats the reason why an exchange cannot have occurred.
pub(crate) fn untrue_exchange(exchange: &Exchange, reason: &str) -> String {
    let Exchange { rule, step, .. } = exchange;
    let request = &exchange.request;
    format!(
        "the exchange `{} {}` of {rule}, step {step}: {reason}",
        request.method, request.url
    )
}

/// Converts a recorded response to an answer.
pub(crate) fn answer(received: ReceivedResponse) -> Answer {
    let body = received.body.bytes();
    Answer::new(received.status, received.headers, body.into())
}
