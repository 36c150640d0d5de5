//! The conformance suite: every documented rule of the two REST APIs as an executable
//! scenario, judged against any implementation.
//!
//! The program `conformance` is made of it, and so can be the tests of any server. A test
//! starts its server, says where it is and what it claims to be able to do, chooses rules, and
//! reads the verdicts:
//!
//! ```no_run
//! use conformance::Suite;
//! use conformance::evidence::Event;
//! use conformance::target::Target;
//! use conformance::verdict::{Reason, Verdict};
//!
//! # fn main() -> Result<(), conformance::SuiteError> {
//! let engine = Some("http://127.0.0.1:8181".to_owned());
//! let claims = ["documents", "health"].map(str::to_owned).into();
//! let suite = Suite::builder(Target::at(None, engine, None, claims))
//!     .rules(["engine/v1/data/**".to_owned(), "engine/health/get".to_owned()])
//!     .build()?;
//! suite.run(|event| {
//!     if let Event::Judged(judged) = event {
//!         match judged.verdict {
//!             // Only this counts as proven.
//!             Verdict::Pass => {}
//!             // The documents leave it open: `judged.transcript` is what the server showed.
//!             Verdict::Recorded => {}
//!             // Claims leave rules out; any other reason is worth a look.
//!             Verdict::NotRun(Reason::NotClaimed(_)) => {}
//!             Verdict::NotRun(reason) => panic!("{}: {reason}", judged.rule),
//!             // The step, each difference, and curl commands that repeat it.
//!             Verdict::Fail(failure) => panic!("{}: {failure}", judged.rule),
//!         }
//!     }
//! });
//! # Ok(())
//! # }
//! ```
//!
//! - Claims are names of `specs/edition.toml`, of which each rule needs one;
//!   [`catalogue::Catalogue::capabilities`] lists them.
//! - Rules are ids, paths above ids, or globs; a pattern that fits nothing is an error.
//! - [`Suite::run`] judges all of them, several at once, and hands over every exchange too.
//!   [`Suite::run_one`] judges one, for harnesses that make a test of each rule
//!   ([`Suite::clauses`] lists them); call [`Suite::close`] at the end.
//! - [`target::Target::parse`] reads a description by which the suite starts the server itself,
//!   in every setup that rules need.
//! - [`report::Digest`] gathers the events of a run into a score and a conclusion.
//!
//! `examples/documents.rs` is a tiny server with its test.

mod answer;
pub mod baseline;
pub mod capability;
pub mod catalogue;
mod cleanup;
pub mod cli;
mod client;
mod compare;
pub mod coverage;
mod curl;
mod defects;
mod depot;
mod differ;
mod doctor;
#[cfg(feature = "embedded")]
mod embedded;
pub mod embedded_files;
pub mod evidence;
mod exchange;
mod facts;
mod filter;
#[cfg(fuzzing)]
pub mod fuzzing;
mod judge;
mod kinds;
pub mod known;
mod launch;
mod ledger;
mod names;
pub mod openapi;
mod outgoing;
pub mod pattern;
mod places;
mod reach;
pub mod redact;
mod replay;
pub mod report;
mod repro;
mod residual;
pub mod rules;
mod runner;
pub mod saboteur;
pub mod scenario;
mod server;
mod servers;
mod shrink;
pub mod stability;
mod state;
mod suite;
mod tape;
pub mod target;
mod trace;
mod transcript;
pub mod verdict;
mod walk;

pub use client::{Connection, ConnectionError};
pub use suite::{Mode, Outcome, Suite, SuiteBuilder, SuiteError, Vacuity};
