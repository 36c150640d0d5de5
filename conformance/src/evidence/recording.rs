//! Answers of an earlier run, played back in the server's place.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::client::answer::{Answer, NoAnswer};
use crate::client::redact::REDACTED;
use crate::client::wire::Wire;
use crate::evidence::{Exchange, Payload, Received, Sent};
use crate::sync::lock;

/// The exchanges of one rule, by the number of the step, in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    steps: Mutex<BTreeMap<usize, VecDeque<Exchange>>>,
    /// Whether something was asked that it does not hold.
    lacks: AtomicBool,
}

impl Recording {
    /// The recording of these exchanges; those of cleaning up are left out.
    pub(crate) fn of(exchanges: impl IntoIterator<Item = Exchange>) -> Self {
        let mut steps: BTreeMap<usize, VecDeque<Exchange>> = BTreeMap::new();
        for exchange in exchanges {
            if exchange.step > 0 {
                steps.entry(exchange.step).or_default().push_back(exchange);
            }
        }
        Self {
            steps: Mutex::new(steps),
            lacks: AtomicBool::new(false),
        }
    }

    /// The recording of these exchanges with another answer to the one at this position.
    pub(crate) fn with(exchanges: &[Exchange], at: usize, received: Received) -> Self {
        let mut exchanges = exchanges.to_vec();
        if let Some(exchange) = exchanges.get_mut(at) {
            exchange.response = Some(received);
            exchange.error = None;
        }
        Self::of(exchanges)
    }

    /// The next answer of a step.
    ///
    /// # Errors
    /// What the earlier run had instead of an answer; that it sent something else; that it has no
    /// more of this step.
    pub(crate) fn answer(&self, step: usize, wire: &Wire) -> Result<Answer, NoAnswer> {
        let next = lock(&self.steps)
            .get_mut(&step)
            .and_then(VecDeque::pop_front);
        let Some(exchange) = next else {
            self.lacks.store(true, Ordering::Relaxed);
            return Err(NoAnswer::new("the evidence holds no answer to it"));
        };
        if !is_same(&exchange.request, wire) {
            self.lacks.store(true, Ordering::Relaxed);
            let Sent { method, url, .. } = &exchange.request;
            let what = format!("the evidence holds another request here: {method} {url}");
            return Err(NoAnswer::new(what));
        }
        match exchange.response {
            Some(received) if received.body.is_cut() => {
                self.lacks.store(true, Ordering::Relaxed);
                Err(NoAnswer::new("the evidence holds only the start of it"))
            }
            Some(received) => {
                let mut told = answer(received);
                told.milliseconds = exchange.milliseconds;
                Ok(told)
            }
            None => Err(NoAnswer::new(exchange.error.unwrap_or_default())),
        }
    }

    /// Whether something was asked that it does not hold.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.lacks.load(Ordering::Relaxed)
    }

    /// Whether there are more answers of a step.
    pub(crate) fn has_more(&self, step: usize) -> bool {
        let steps = lock(&self.steps);
        steps.get(&step).is_some_and(|left| !left.is_empty())
    }
}

/// Whether evidence tells of this request. What was redacted in it may have been anything.
fn is_same(told: &Sent, wire: &Wire) -> bool {
    let same = |told: &Payload, sent: &[u8]| {
        told.is_of(sent) || String::from_utf8_lossy(&told.bytes()).contains(REDACTED)
    };
    match wire {
        Wire::Raw(bytes) => told.method == "raw" && same(&told.body, bytes),
        Wire::Http(request) => {
            told.method == request.method
                && told.url.ends_with(&request.path)
                && same(&told.body, &request.body)
        }
    }
}

/// The answer that evidence tells of.
pub(crate) fn answer(received: Received) -> Answer {
    let body = received.body.bytes();
    Answer::new(received.status, received.headers, body.into())
}
