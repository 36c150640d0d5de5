//! Version 1.

use crate::http::{ApiError, Code};

pub(super) mod compile;
pub(super) mod config;
pub(super) mod data;
pub(super) mod policies;
pub(super) mod query;
pub(super) mod status;

/// 500: what was asked for needs the policy language.
fn without_policies(what: &str) -> ApiError {
    let message = format!("{what} needs policies, which this build does not support");
    ApiError::new(Code::InternalError, message)
}
