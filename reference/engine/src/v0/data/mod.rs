//! `/v0/data`

pub(crate) mod post;
