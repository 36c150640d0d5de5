//! Durations and sizes on the command line.

pub mod duration;
mod size;

pub use duration::{duration, milliseconds, seconds};
pub use size::{size, size_or_none};
