//! `/v1/status`

pub(in crate::engine) mod get;
