//! Verdicts from the run of a scenario.

pub(crate) mod canonical_residual;
pub(crate) mod compare;
mod explain_trace;
pub(crate) mod facts;
mod filter_rows;
pub mod openapi;
pub(crate) mod scenario_run;
pub(crate) mod transcript;
pub(crate) mod truncate;
pub mod verdict;
mod verify;

pub(crate) use transcript::snapshot_text;
pub(crate) use verify::{early_failure, verify};
