//! /v1/bundles

pub(in crate::control) mod delete;
pub(in crate::control) mod get;
pub(in crate::control) mod list;
pub(in crate::control) mod put;
pub(in crate::control) mod status;
