//! The conformance suite: every documented rule of the two REST APIs as an executable
//! scenario, judged against any implementation.

mod answer;
pub mod catalogue;
mod cleanup;
pub mod cli;
mod client;
mod compare;
pub mod coverage;
mod curl;
mod defects;
mod depot;
#[cfg(feature = "embedded")]
mod embedded;
pub mod embedded_files;
pub mod evidence;
mod exchange;
mod facts;
mod filter;
mod judge;
pub mod known;
mod launch;
mod names;
pub mod openapi;
mod outgoing;
pub mod pattern;
mod places;
mod reach;
pub mod redact;
pub mod report;
mod residual;
pub mod rules;
mod runner;
pub mod scenario;
mod server;
mod suite;
pub mod target;
mod trace;
mod transcript;
pub mod verdict;
mod walk;

pub use client::{Connection, ConnectionError};
pub use suite::{Outcome, Suite, SuiteBuilder, SuiteError};
