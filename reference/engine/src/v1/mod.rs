//! Version 1.

pub(super) mod batch;
pub(super) mod compile;
pub(super) mod config;
pub(super) mod data;
pub(super) mod policies;
pub(super) mod query;
pub(super) mod status;
