//! GET /health
//!
//! Serves `control/health/get/ready-empty-object`.

use crate::control::Control;
use crate::control::v1::answer;
use crate::http::{ApiError, Code, Reply, Request};

/// 200 with an empty object when the database can be read and written, 500 with what is wrong
/// with it when not.
pub(in crate::control) async fn handle(
    control: &Control,
    request: &Request,
) -> Result<Reply, ApiError> {
    match control.trouble().await {
        None => Ok(answer::done(request)),
        Some(trouble) => Err(ApiError::new(Code::InternalError, trouble.to_string())),
    }
}
