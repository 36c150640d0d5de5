//! Keeping one bundle up to date.

use tracing::info;

use super::board::{BundleStatus, Failure};
use super::download::failure;
use super::poll::Target;
use crate::bundle::Bundle;
use crate::engine::Engine;

/// Activates what comes for one bundle.
#[derive(Debug)]
pub(super) struct Loader {
    pub(super) engine: Engine,
    pub(super) name: String,
    /// What `Activation` gave for the name.
    pub(super) number: u64,
}

impl Target for Loader {
    fn name(&self) -> &str {
        &self.name
    }

    fn post(&self, change: impl FnOnce(&mut BundleStatus)) {
        self.engine.plugins().board.bundle(&self.name, change);
    }

    fn activate(&self, bundle: Bundle) -> Result<(), Failure> {
        let revision = bundle.manifest.revision.clone();
        let activation = &self.engine.plugins().activation;
        let activated = activation.activate(&self.engine, &self.name, self.number, bundle);
        activated.map_err(|why| failure(&why))?;
        info!(bundle = self.name, revision, "the bundle is active");
        Ok(())
    }
}
