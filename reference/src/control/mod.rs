//! The control plane.

use std::sync::Arc;

use http::StatusCode;

use crate::StartError;
use crate::http::{Reply, Request, Service};

/// What the command line says about the control plane.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "control")]
pub struct Options {}

/// The control plane.
#[derive(Debug)]
pub struct Control {}

/// Opens the control plane.
///
/// # Errors
/// When something that the options name cannot be used.
pub async fn open(_options: &Options) -> Result<Arc<Control>, StartError> {
    Ok(Arc::new(Control {}))
}

impl Service for Control {
    async fn answer(&self, _request: Request) -> Reply {
        Reply::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    fn body_limit(&self) -> usize {
        1 << 20
    }
}
