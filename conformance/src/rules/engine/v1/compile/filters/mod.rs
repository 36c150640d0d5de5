//! Rules compiled to data filters.

mod mappings;
mod masks;
mod paths;
pub(crate) mod post;
mod selections;
mod several;
pub(crate) mod tables;
