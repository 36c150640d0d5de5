//! Rules that several endpoints share.

pub(crate) mod authentication;
pub(crate) mod decision_envelope;
pub(crate) mod documents;
pub(crate) mod error_object;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod groups;
pub(crate) mod introduction;
pub(crate) mod limits;
pub(crate) mod methods;
pub(crate) mod metrics;
pub(crate) mod policy_module;
pub(crate) mod pretty;
pub(crate) mod provenance;
pub(crate) mod request_headers;
pub(crate) mod states;
pub(crate) mod trace;
pub(crate) mod versioning;
