//! X.509 certificates outside of policies: client certificates.

pub use crate::builtins::crypto::read::certificates;
