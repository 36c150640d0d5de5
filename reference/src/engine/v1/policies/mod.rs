//! `/v1/policies`

use crate::http::{ApiError, Code, Request};

pub(in crate::engine) mod delete;
pub(in crate::engine) mod get;
pub(in crate::engine) mod list;
pub(in crate::engine) mod put;

/// 404: no policy has the id that the path gives.
fn unknown(request: &Request) -> ApiError {
    let id = request.segments.join("/");
    ApiError::new(Code::ResourceNotFound, format!("no policy `{id}`"))
}
