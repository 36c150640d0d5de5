//! GET /health

use super::{healthy, unhealthy};
use crate::Engine;
use http_server::{ApiError, Reply, Request};

/// Reports whether the engine is up; with `bundles` also whether all bundles are activated, with
/// `plugins` whether all plugins except those in `exclude-plugin` are ready.
///
/// # Errors
/// None: an unhealthy engine answers 500 with the reason.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let bundles = request.flag("bundles") || request.flag("bundle");
    let statuses = &engine.plugins().statuses;
    if bundles && !statuses.all_activated() {
        return Ok(unhealthy("not all configured bundles have been activated"));
    }
    let excluded = |plugin: &str| {
        let mut parameters = request.query.iter();
        parameters.any(|(name, value)| name == "exclude-plugin" && value == plugin)
    };
    let counts = |(plugin, fine): (&str, bool)| fine || excluded(plugin);
    if request.flag("plugins") && !statuses.plugins().into_iter().all(counts) {
        return Ok(unhealthy("not all plugins in OK state"));
    }
    Ok(healthy())
}
