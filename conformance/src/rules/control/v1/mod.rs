//! Rules of the endpoints below /v1.

pub(crate) mod sources;
