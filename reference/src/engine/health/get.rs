//! GET /health

use super::{healthy, unhealthy};
use crate::engine::Engine;
use crate::http::{ApiError, Reply, Request};

/// Says whether the engine is up; with `bundles` also whether all bundles have activated, with
/// `plugins` whether all plugins but those that `exclude-plugin` names are in order.
///
/// # Errors
/// None: an engine that is not healthy answers 500 with its reason.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let bundles = request.flag("bundles") || request.flag("bundle");
    if bundles && engine.config().bundles {
        return Ok(unhealthy("not all configured bundles have been activated"));
    }
    let excluded = |plugin: &str| {
        let mut given = request.query.iter();
        given.any(|(name, value)| name == "exclude-plugin" && value == plugin)
    };
    let mut plugins = engine.config().plugins.iter();
    if request.flag("plugins") && plugins.any(|plugin| !excluded(plugin)) {
        return Ok(unhealthy("not all plugins in OK state"));
    }
    Ok(healthy())
}
