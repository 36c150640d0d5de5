//! X.509 certificates for uses outside of policies: client certificates of requests.

pub use crate::builtins::crypto::read::certificates;
