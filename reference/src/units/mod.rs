//! Durations and amounts of memory, as the command line gives them.

mod duration;
mod size;

pub(crate) use duration::{duration, milliseconds, seconds};
pub(crate) use size::{size, size_or_none};
