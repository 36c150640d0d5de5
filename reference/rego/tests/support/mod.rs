//! Helpers shared by several tests.

pub(crate) mod ending;
pub(crate) mod processor_time;
