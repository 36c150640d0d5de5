//! Lists of what a target is known to do wrong, or not always: their conditions, and how they
//! are written and kept short.

pub mod condition;
pub mod date;
pub(crate) mod text;
