//! POST /

use crate::Engine;
use crate::v0::data::post::respond_without_envelope;
use http_server::{ApiError, Reply, Request};

/// Returns the bare default decision. The body is the input document and may be empty.
///
/// # Errors
/// As `POST /v0/data/{path}` at the configured path `default_decision`.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    respond_without_envelope(engine, request, &engine.config().default_decision)
}
