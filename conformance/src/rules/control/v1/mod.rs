//! Rules of the endpoints below /v1.

pub(crate) mod bundles;
pub(crate) mod secrets;
pub(crate) mod sources;
pub(crate) mod stacks;
