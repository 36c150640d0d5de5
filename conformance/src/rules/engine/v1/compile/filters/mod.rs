//! Rules compiled to data filters.

mod masks;
mod paths;
pub(crate) mod post;
mod selections;
pub(crate) mod tables;
