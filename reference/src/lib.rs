//! The reference server: a policy engine and its control plane that satisfy every documented rule.
//!
//! The servers are separate crates, re-exported here: [`http`], [`bundle`], [`engine`] and, with
//! the feature `control`, the control plane. This crate adds the command line, which starts them.

mod command;
mod flag_forms;

pub use bundle;
pub use command::{CommandLine, Running, start};
#[cfg(feature = "control")]
pub use control;
pub use engine;
pub use http_server as http;
pub use http_server::{StartError, log};
