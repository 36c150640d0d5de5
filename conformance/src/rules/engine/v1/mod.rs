//! The main version.

pub(crate) mod data;
