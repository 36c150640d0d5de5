//! `/v1/batch/data`

pub(in crate::engine) mod post;
