//! /v1/bundles

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod put;
pub(crate) mod status;
