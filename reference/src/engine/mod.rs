//! The policy engine.

use http::StatusCode;

use crate::StartError;
use crate::http::{Reply, Request, Service};

/// What the command line says about the engine.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "engine")]
pub struct Options {}

/// The policy engine.
#[derive(Debug)]
pub struct Engine {}

impl Engine {
    /// Opens the engine.
    ///
    /// # Errors
    /// When something that the options name cannot be used.
    pub fn open(_options: &Options) -> Result<Self, StartError> {
        Ok(Self {})
    }
}

impl Service for Engine {
    async fn answer(&self, _request: Request) -> Reply {
        Reply::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    fn body_limit(&self) -> usize {
        1 << 20
    }
}
