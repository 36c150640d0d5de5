//! GET /health
//!
//! Serves `control/health/get/ready-empty-object`.

use crate::control::v1::answer;
use crate::control::{Control, errors};
use crate::http::{ApiError, Reply, Request};

/// 200 with an empty object when the database can be read and written, 500 with the error
/// otherwise.
pub(in crate::control) async fn handle(
    control: &Control,
    request: &Request,
) -> Result<Reply, ApiError> {
    match control.database_failure().await {
        None => Ok(answer::done(request)),
        Some(database_failure) => Err(errors::unhealthy(database_failure)),
    }
}
