//! The conformance suite: every documented rule of the two REST APIs as an executable
//! scenario, judged against any implementation.
//!
//! The program `conformance` is built on it, and so can be the tests of any server. A test starts
//! its server, declares its address and its capabilities, chooses rules, and reads the verdicts:
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
//! - Claims are capabilities of `specs/edition.toml`, of which each rule needs one;
//!   [`catalogue::Catalogue::capabilities`] lists them.
//! - Rules are ids, paths above ids, or globs; a pattern that matches nothing is an error.
//! - [`Suite::run`] judges all of them concurrently, and emits every exchange too.
//!   [`Suite::run_one`] judges one, for harnesses with one test per rule ([`Suite::clauses`] lists
//!   them); call [`Suite::close`] at the end.
//! - [`target::Target::parse`] reads a description by which the suite starts the server itself,
//!   in every setup that rules need.
//! - [`report::Digest`] aggregates the events of a run into a score and a conclusion.
//!
//! `examples/documents.rs` is a tiny server with its test.
//!
//! The modules follow the processing of a rule: its clause ([`catalogue`]), its scenario
//! ([`rules`], [`scenario`]), the `http_client` and the [`target`] with its `fixture_server`, the
//! `run`, the verdict (`judge`), the [`evidence`], and its uses: [`report`], `diff`, `replay`. In
//! addition there are [`faults`], which rules must notice, [`variants`], on which no rule may fail,
//! and [`known_deviations`] of targets. Their layers are tested in `tests/architecture`.

pub mod assets;
pub mod catalogue;
pub mod cli;
#[cfg(feature = "embedded")]
pub mod client_conformance;
mod diff;
mod doctor;
pub mod evidence;
pub mod faults;
mod fixture_server;
#[cfg(fuzzing)]
pub mod fuzzing;
mod http_client;
mod judge;
pub mod known_deviations;
#[cfg(feature = "embedded")]
mod mock;
mod process_group;
mod replay;
pub mod report;
pub mod rules;
mod run;
pub mod scenario;
mod sha256;
mod shim;
pub mod submission;
mod sync;
pub mod target;
pub mod variants;
mod visible;

pub use http_client::{Connection, ConnectionError};
pub use judge::{openapi, verdict};
pub use report::coverage;
pub use run::{Mode, Outcome, Suite, SuiteBuilder, SuiteError, TrivialServerResults};
pub use visible::visible_line;
