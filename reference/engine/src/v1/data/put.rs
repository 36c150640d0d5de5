//! PUT /v1/data/{path}

use http::StatusCode;

use super::{without_conflict, write_reply};
use crate::metrics::Metrics;
use crate::{Engine, errors, request_body, store};
use http_server::{ApiError, Reply, Request};

/// Writes a document, and creates the missing objects on its path.
///
/// # Errors
/// `invalid_parameter` when the body is not JSON, the root would not be an object, or a bundle owns
/// the path; `resource_conflict` when a document on the path is not an object, or a rule defines
/// the document at the path or one in it.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_write(request);
    let document = metrics.time("timer_rego_input_parse_ns", || {
        request_body::document(request)
    })?;
    let only_new = request.header("if-none-match") == Some("*");
    let mut already_exists = false;
    engine.write(|contents| {
        contents.bundles.permit(request.path.open())?;
        already_exists =
            only_new && store::find(&contents.documents, request.path.open()).is_some();
        if already_exists {
            return Ok(());
        }
        store::put(&mut contents.documents, request.path.open(), document)?;
        let checked = without_conflict(contents, request.path.open());
        checked.map_err(|errors| errors::rule_conflict(&errors))
    })?;
    if already_exists {
        return Ok(Reply::empty(StatusCode::NOT_MODIFIED));
    }
    Ok(write_reply(metrics))
}
