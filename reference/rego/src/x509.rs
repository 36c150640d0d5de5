//! Certificates outside of policies: those that clients show.

pub use crate::builtins::crypto::read::certificates;
