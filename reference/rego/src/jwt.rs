//! JSON Web Tokens for uses outside of policies: signatures of bundles, and the authentication of a
//! server to other servers.

pub use crate::builtins::jwt::signed::{sign, unverified, verify};
