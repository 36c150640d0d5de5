//! PUT /v1/policies/{id}

use rego::{Compiler, Module};

use super::{changed, id, permit};
use crate::metrics::Metrics;
use crate::state::Contents;
use crate::{Engine, errors};
use http_server::{ApiError, Reply, Request};

/// Creates or replaces a policy. Unchanged source has no effect.
///
/// # Errors
/// `invalid_parameter` when the source is not UTF-8 or empty, cannot be parsed or does not compile
/// together with the other policies and the documents, or when a bundle owns the policy or its
/// package; then the policy stays as it was.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_policy(request);
    let id = id(request);
    let text = metrics.time("timer_server_read_bytes_ns", || text(request))?;
    let state = engine.state();
    permit(state.contents(), &id)?;
    let present = state.contents().policy.module(&id);
    if present.is_some_and(|module| module.text() == text) {
        return Ok(changed(request, metrics));
    }
    let module = metrics.time("timer_rego_module_parse_ns", || {
        Module::parse_as(&id, text, engine.version())
    });
    let module = module.map_err(|errors| errors::unparsed_module(&errors))?;
    let timer = "timer_rego_module_compile_ns";
    metrics.time(timer, || {
        engine.write(|contents| put(contents, &id, module))
    })?;
    Ok(changed(request, metrics))
}

fn text(request: &Request) -> Result<&str, ApiError> {
    std::str::from_utf8(&request.body)
        .map_err(|_| ApiError::invalid_parameter("request body: the policy is not UTF-8"))
}

fn put(contents: &mut Contents, id: &str, module: Module) -> Result<(), ApiError> {
    permit(contents, id)?;
    contents.bundles.permit(&module.package.names())?;
    let compiler = Compiler::new(&contents.policy).put(id, module);
    let compiled = compiler.documents(&contents.documents).compile();
    contents.policy = compiled.map_err(|errors| errors::module(&errors))?;
    Ok(())
}
