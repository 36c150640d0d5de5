//! `/v1/batch`, which the document does not have: many decisions in one request.

pub(in crate::engine) mod data;
