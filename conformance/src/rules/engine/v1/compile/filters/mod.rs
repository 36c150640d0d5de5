//! Rules compiled to data filters.

pub(crate) mod post;
mod selections;
mod tables;
