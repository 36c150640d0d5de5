//! /health

pub(super) mod get;
