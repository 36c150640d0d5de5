//! DELETE /v1/policies/{id}

use rego::Compiler;

use super::{changed, id, permit};
use crate::metrics::Metrics;
use crate::state::Contents;
use crate::{Engine, errors};
use http_server::{ApiError, Reply, Request};

/// Removes a policy.
///
/// # Errors
/// `resource_not_found` when no policy has the id; `invalid_operation` when other policies do not
/// compile without this one, and `invalid_parameter` when a bundle owns it; then it stays.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_policy(request);
    let id = id(request);
    let timer = "timer_rego_module_compile_ns";
    metrics.time(timer, || engine.write(|contents| delete(contents, &id)))?;
    Ok(changed(request, metrics))
}

fn delete(contents: &mut Contents, id: &str) -> Result<(), ApiError> {
    if contents.policy.module(id).is_none() {
        return Err(errors::no_policy(id));
    }
    permit(contents, id)?;
    let compiled = Compiler::new(&contents.policy).remove(id).compile();
    contents.policy = compiled.map_err(|errors| errors::needed_module(&errors))?;
    Ok(())
}
