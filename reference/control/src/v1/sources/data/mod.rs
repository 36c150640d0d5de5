//! /v1/sources/{source}/data/{path}

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod post;
pub(crate) mod put;

use crate::model::stored_path;
use crate::v1::answer;
use http_server::{ApiError, Request};

/// Returns the source name and the stored path of the document.
fn place(request: &Request) -> Result<(&str, String), ApiError> {
    let source = answer::name(request)?;
    let path = request.path.open().get(1..).unwrap_or_default();
    Ok((source, stored_path(path)?))
}
