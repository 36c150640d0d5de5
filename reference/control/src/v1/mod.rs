//! /v1

pub(super) mod answer;
pub(super) mod bundles;
pub(super) mod secrets;
pub(super) mod sources;
pub(super) mod stacks;
