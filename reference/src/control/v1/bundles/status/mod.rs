//! /v1/bundles/{bundle}/status

pub(in crate::control) mod latest;
pub(in crate::control) mod list;
