//! GET /health
//!
//! Serves `control/health/get/ready-empty-object`.

use crate::control::Control;
use crate::control::v1::answer;
use crate::http::{ApiError, Code, Reply, Request};

/// 200 with an empty object when the database answers, 500 when not.
pub(in crate::control) async fn handle(
    control: &Control,
    request: &Request,
) -> Result<Reply, ApiError> {
    if control.store.is_ready().await {
        Ok(answer::done(request))
    } else {
        Err(ApiError::new(
            Code::InternalError,
            "the database does not answer",
        ))
    }
}
