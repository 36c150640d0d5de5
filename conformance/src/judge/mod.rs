//! From what running a scenario showed to the verdict.

pub(crate) mod compare;
pub(crate) mod facts;
pub mod openapi;
pub(crate) mod residual;
mod rows;
pub(crate) mod run_trace;
pub(crate) mod shorten;
mod trace;
pub(crate) mod transcript;
pub mod verdict;

pub(crate) use transcript::snapshot_text;
pub(crate) use verdict::{early_failure, verdict};
