//! JSON Web Tokens outside of policies: those that sign bundles.

pub use crate::builtins::jwt::signed::{unverified, verify};
