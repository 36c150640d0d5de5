//! JSON Web Tokens outside of policies: for signatures of bundles, and for the authentication of a
//! server to others.

pub use crate::builtins::jwt::signed::{sign, unverified, verify};
