//! Rules of the source endpoints.

pub(crate) mod data;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod put;
