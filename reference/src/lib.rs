//! The reference server: a policy engine and its control plane that keep every documented rule.
//!
//! Module dependencies, in this order and checked by a test:
//!
//! - leaves: start errors (`error`), durations and sizes (`units`), error objects of policies and
//!   evaluations (`diagnostic`), the cryptography provider (`crypto`), the log;
//! - `telemetry`: spans of requests, and their export to a collector;
//! - `host`: HTTP, name resolution, files and the environment, as the built-in functions of
//!   policies use them;
//! - [`http`]: connections, requests, replies and route tables, independent of both servers;
//! - [`bundle`]: archives of policies and data, and their signatures;
//! - [`engine`]: the policy engine. A request passes `schedule`, `routes` and `authorize` on its
//!   way to the handler in the path of its endpoint, such as `v1/data/put.rs`;
//! - [`control`]: the control plane. Handlers write definitions to the `store`, and the `worker`
//!   makes the `builder` create bundles of them for their `destination`;
//! - the command line, which starts the servers.

pub mod bundle;
mod command;
pub mod control;
mod crypto;
mod diagnostic;
pub mod engine;
mod error;
mod flag_forms;
mod host;
pub mod http;
pub mod log;
mod telemetry;
mod units;

#[cfg(test)]
#[path = "../rego/tests/support/processor_time.rs"]
mod processor_time;

pub use command::{CommandLine, Running, start};
pub use error::StartError;

/// Timeout after which a hanging test fails. No test depends on how fast something is.
#[cfg(test)]
const HANG_LIMIT: std::time::Duration = std::time::Duration::from_secs(120);
