//! Server of the diagnostic addresses.

use std::sync::Arc;

use http::Method;

use super::{Engine, routes};
use http_server::{Reply, Request, Service};

/// View of an engine that serves only health and metrics.
#[derive(Debug)]
pub struct Diagnostics(Arc<Engine>);

impl Diagnostics {
    /// Returns the view of an engine.
    pub fn of(engine: &Arc<Engine>) -> Self {
        Self(Arc::clone(engine))
    }
}

impl Service for Diagnostics {
    async fn answer(self: &Arc<Self>, request: Request) -> Reply {
        match routes::is_diagnostic(&request.path) {
            true => self.0.answer(request).await,
            false => Reply::not_found(),
        }
    }

    fn is_probe(&self, method: &Method, path: &str) -> bool {
        self.0.is_probe(method, path)
    }

    fn body_limit(&self) -> usize {
        self.0.body_limit()
    }
}
