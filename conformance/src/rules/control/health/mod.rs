//! Rules of the health check.

pub(crate) mod get;
