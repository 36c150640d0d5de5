//! `/v1/batch/data`

pub(crate) mod post;
