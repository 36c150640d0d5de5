//! The saboteur: stands between the suite and a server and breaks one thing, to show that the
//! rule which states that thing notices.
//!
//! It sits inside the suite's client rather than in a proxy of its own, so that many faults are
//! tried at once on one server, raw requests and TLS included, and a fault in one scenario leaves
//! the others alone.

mod change;
mod fault;
mod matrix;
mod mutants;
mod mutations;
mod places;
mod select;
mod vacuous;

pub use fault::{Fault, FaultError};
pub use matrix::Matrix;
pub(crate) use mutants::mutants;
pub use mutations::Mutations;
pub(crate) use select::{Goal, Seen};
pub(crate) use vacuous::READY;
pub use vacuous::Vacuous;

use crate::answer::{Answer, NoAnswer};
use crate::client::{Base, Client};
use crate::outgoing::Wire;

/// One request on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errand<'a> {
    pub(crate) client: &'a Client,
    pub(crate) goal: Goal,
    pub(crate) base: &'a Base,
    /// Who asks, as evidence names them.
    pub(crate) who: &'a str,
    /// The Authorization header of the one with all rights.
    pub(crate) administrator: Option<&'a str>,
}

impl Fault {
    /// Whether the fault touches this request.
    pub(crate) fn touches(&self, goal: Goal, seen: &Seen<'_>) -> bool {
        self.on.iter().any(|on| on.fits(goal, seen)) && self.asked.fits(seen)
    }

    /// Whether it changes a request that it touches before the answer is known.
    pub(crate) fn acts_at_once(&self) -> bool {
        self.reply.is_some() || !self.request.is_empty()
    }

    /// Whether it changes this answer to a request that it touches.
    pub(crate) fn changes(&self, answer: &Answer) -> bool {
        self.answered.fits(answer)
    }

    /// Carries a request to the server and its answer back, broken as the fault says.
    pub(crate) async fn carry(&self, errand: Errand<'_>, wire: &Wire) -> Result<Answer, NoAnswer> {
        if !self.touches(errand.goal, &Seen::of(wire, errand.who)) {
            return errand.client.carry(errand.base, wire).await;
        }
        if let Some(reply) = &self.reply {
            return Ok(reply.answer());
        }
        let sent = match wire {
            Wire::Http(request) => Wire::Http(change::request(
                request,
                &self.request,
                errand.administrator,
            )),
            Wire::Raw(bytes) => Wire::Raw(change::raw_request(bytes, &self.request)),
        };
        let answer = errand.client.carry(errand.base, &sent).await?;
        Ok(match self.changes(&answer) {
            true => change::answer(&answer, &self.answer),
            false => answer,
        })
    }
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests;
