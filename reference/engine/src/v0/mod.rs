//! Version 0: decisions without an envelope.

pub(super) mod data;
