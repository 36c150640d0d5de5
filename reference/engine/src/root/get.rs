//! GET /

use http::StatusCode;

use crate::Engine;
use http_server::{ApiError, Reply, Request};

/// Returns the name and version of the server.
///
/// # Errors
/// None.
pub(crate) fn handle(_engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    let text = concat!("policy engine, reference ", env!("CARGO_PKG_VERSION"), "\n");
    Ok(Reply::text(StatusCode::OK, text))
}
