//! What several tests share.

pub(crate) mod ending;
pub(crate) mod processor_time;
