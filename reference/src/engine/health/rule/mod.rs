//! `/health/{rule-name}`

pub(in crate::engine) mod get;
