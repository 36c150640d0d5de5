//! The data endpoint for webhooks.

pub(crate) mod post;
