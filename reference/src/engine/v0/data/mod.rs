//! `/v0/data`

pub(in crate::engine) mod post;
