//! /v1/bundles/{bundle}/status

pub(crate) mod latest;
pub(crate) mod list;
