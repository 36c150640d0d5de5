//! `/v1/compile`

pub(crate) mod filters;
pub(crate) mod post;
