//! `/v1/batch`: multiple decisions in one request, an extension of the document.

pub(in crate::engine) mod data;
