//! The reference server: a policy engine and its control plane that keep every documented rule.

pub mod bundle;
mod command;
pub mod control;
pub mod engine;
pub mod http;
pub mod log;

pub use command::{CommandLine, Running, StartError, start};
