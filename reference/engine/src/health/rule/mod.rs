//! `/health/{rule-name}`

pub(crate) mod get;
