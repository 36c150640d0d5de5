//! DELETE /v1/data/{path}

use super::write_reply;
use crate::metrics::Metrics;
use crate::{Engine, store};
use http_server::{ApiError, Reply, Request};

/// Removes a document.
///
/// # Errors
/// `resource_not_found` when there is no such document, `invalid_parameter` when a bundle owns it.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let metrics = Metrics::of_write(request);
    engine.write(|contents| {
        contents.bundles.permit(request.path.open())?;
        store::remove(&mut contents.documents, request.path.open()).map_err(ApiError::from)
    })?;
    Ok(write_reply(metrics))
}
