//! JSON Web Tokens outside of policies: those that sign bundles, and those that prove to others who
//! a server is.

pub use crate::builtins::jwt::signed::{sign, unverified, verify};
