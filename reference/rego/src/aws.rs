//! AWS signatures, version 4, outside of policies: for requests that a server sends.

pub use crate::builtins::aws::{Signer, UnsignedRequest};
