//! The reference server: a policy engine and its control plane that keep every documented rule.

pub mod http;
