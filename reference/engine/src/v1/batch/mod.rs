//! `/v1/batch`: multiple decisions in one request, an API that Open Policy Agent lacks.

pub(crate) mod data;
