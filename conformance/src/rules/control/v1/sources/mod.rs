//! Rules of the source endpoints.

pub(crate) mod data;
