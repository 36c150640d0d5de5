//! Fault injection: breaks one property of a server's responses, to show that the rule about this
//! property notices.
//!
//! Faults are applied in the suite's client rather than in a separate proxy. This allows testing
//! many faults at once on one server, including raw requests and TLS, and a fault in one scenario
//! does not affect the others.

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
    /// Name of the caller, as in the evidence.
    pub(crate) who: &'a str,
    /// Authorization header of the administrator.
    pub(crate) administrator: Option<&'a str>,
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests;
