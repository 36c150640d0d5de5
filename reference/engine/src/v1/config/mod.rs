//! `/v1/config`

pub(crate) mod get;
