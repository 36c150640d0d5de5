//! `/v1/batch`: many decisions in one request, an extension of the document.

pub(in crate::engine) mod data;
