//! `/v1/config`

pub(in crate::engine) mod get;
