//! The version for webhooks.

pub(crate) mod data;
