//! The reference server: a policy engine and its control plane that keep every documented rule.
//!
//! The modules build on each other like this, and a test holds them to it:
//!
//! - leaves: why a server does not start (`error`), durations and sizes (`units`), error objects
//!   of policies and evaluations (`diagnostic`), the choice of cryptography (`crypto`), the log;
//! - `telemetry`: spans of requests, and what sends them to a collector;
//! - `host`: servers, names, files and the environment, as the built-in functions of policies see
//!   them;
//! - [`http`]: connections, requests, replies and route tables; it knows neither server;
//! - [`bundle`]: archives of policies and data, and their signatures;
//! - [`engine`]: the policy engine. A request goes through `schedule`, `routes` and `authorize`
//!   to the handler that has the path of its endpoint, such as `v1/data/put.rs`;
//! - [`control`]: the control plane. Handlers write definitions to the `store`, and the `worker`
//!   has the `builder` make bundles of them for their `destination`;
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

/// A test that hangs ends after this time. None depends on how quick something is.
#[cfg(test)]
const HANG_LIMIT: std::time::Duration = std::time::Duration::from_secs(120);
