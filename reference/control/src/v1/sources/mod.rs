//! /v1/sources

pub(crate) mod data;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod put;
