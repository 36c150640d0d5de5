//! `/v1/query`

pub(in crate::engine) mod get;
pub(in crate::engine) mod post;
