//! Signatures of AWS, version 4, outside of policies: those of requests that a server sends.

pub use crate::builtins::aws::{Signer, UnsignedRequest};
