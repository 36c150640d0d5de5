//! GET /

use http::StatusCode;

use crate::engine::Engine;
use crate::http::{ApiError, Reply, Request};

/// Returns the name and version of the server.
///
/// # Errors
/// None.
pub(in crate::engine) fn handle(_engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    let text = concat!("policy engine, reference ", env!("CARGO_PKG_VERSION"), "\n");
    Ok(Reply::text(StatusCode::OK, text))
}
