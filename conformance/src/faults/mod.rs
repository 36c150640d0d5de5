//! Fault injection: a proxy between suite and server breaks one thing, to show that the rule about
//! it notices.
//!
//! It is part of the suite's client rather than a separate proxy, so that many faults are tried at
//! once on one server, raw requests and TLS included, and a fault in one scenario does not affect
//! the others.

mod alteration;
mod fault;
mod files;
mod kill_matrix;
mod matcher;
mod mutants;
mod mutations;
mod operations;
mod trivial_servers;

pub(crate) use alteration::{Alteration, carry};
pub use fault::Fault;
pub use files::FileError;
pub(crate) use files::{entries, texts_below};
pub use kill_matrix::Matrix;
pub(crate) use matcher::{ObservedRequest, Recipient};
pub(crate) use mutants::mutants;
pub use mutations::Mutations;
pub(crate) use trivial_servers::READY;
pub use trivial_servers::TrivialServer;

use crate::http_client::{Base, Client};

/// Context of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestContext<'a> {
    pub(crate) client: &'a Client,
    pub(crate) recipient: Recipient,
    pub(crate) base: &'a Base,
    /// Identity of the request, as in evidence.
    pub(crate) who: &'a str,
    /// Authorization header of the administrator.
    pub(crate) administrator: Option<&'a str>,
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests;
