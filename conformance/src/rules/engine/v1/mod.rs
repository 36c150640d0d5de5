//! The main version.

pub(crate) mod compile;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod policies;
pub(crate) mod query;
pub(crate) mod status;
