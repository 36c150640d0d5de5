//! `/v1/compile/{path}`

pub(in crate::engine) mod post;
