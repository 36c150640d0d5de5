//! `/v1/compile`

pub(in crate::engine) mod filters;
pub(in crate::engine) mod post;
