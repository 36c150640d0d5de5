//! `/v1/status`

pub(crate) mod get;
