//! /v1/sources/{source}/data/{path}

pub(in crate::control) mod delete;
pub(in crate::control) mod get;
pub(in crate::control) mod post;
pub(in crate::control) mod put;

use crate::control::model::stored_path;
use crate::control::v1::answer;
use crate::http::{ApiError, Request};

/// Returns the source name and the stored path of the document.
fn place(request: &Request) -> Result<(&str, String), ApiError> {
    let source = answer::name(request)?;
    let path = request.path.open().get(1..).unwrap_or_default();
    Ok((source, stored_path(path)?))
}
