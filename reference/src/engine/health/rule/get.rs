//! GET /health/{rule-name}

use rego::Value;

use crate::engine::Engine;
use crate::engine::health::{healthy, unhealthy};
use crate::http::{ApiError, Reply, Request};

/// Says whether the document of that name below `system/health` is `true`.
///
/// # Errors
/// None: everything else answers 500 with its reason.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut path = vec!["system".to_owned(), "health".to_owned()];
    path.extend_from_slice(&request.segments);
    let name = format!("data.{}", path.join("."));
    Ok(match engine.state().read(&path) {
        Some(Value::Bool(true)) => healthy(),
        Some(_) => unhealthy(&format!("health policy was not true at {name}")),
        None => unhealthy(&format!("health policy was undefined at {name}")),
    })
}
