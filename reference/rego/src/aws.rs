//! AWS signatures, version 4, for requests that a server sends itself, outside of policies.

pub use crate::builtins::aws::{Signer, UnsignedRequest};
