//! Durations and sizes on the command line.

mod duration;
mod size;

pub(crate) use duration::{duration, milliseconds, seconds};
pub(crate) use size::{size, size_or_none};
