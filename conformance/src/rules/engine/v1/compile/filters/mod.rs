//! Rules compiled to data filters.

mod mappings;
mod masks;
mod paths;
pub(crate) mod post;
mod selections;
mod several;
mod sql;
pub(crate) mod tables;
mod texts;
mod ucast;
