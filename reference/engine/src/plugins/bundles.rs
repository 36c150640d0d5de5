//! Bundle plugin: keeps one bundle up to date.

use std::sync::Arc;

use tracing::info;

use super::download::failure;
use super::poll::Pollable;
use super::status_registry::{BundleStatus, Failure};
use super::{Host, Plugins};
use bundle::Bundle;

/// Activates the downloads of one bundle.
#[derive(Debug)]
pub(super) struct Loader {
    pub(super) host: Arc<dyn Host>,
    pub(super) plugins: Arc<Plugins>,
    pub(super) name: String,
    /// Number from `Activation` that authorizes this task.
    pub(super) number: u64,
}

impl Pollable for Loader {
    fn name(&self) -> &str {
        &self.name
    }

    fn update(&self, change: impl FnOnce(&mut BundleStatus)) {
        self.plugins.statuses.update_bundle(&self.name, change);
    }

    fn activate(&self, bundle: Bundle) -> Result<(), Failure> {
        let revision = bundle.manifest.revision.clone();
        let Plugins {
            activation,
            statuses,
            ..
        } = &*self.plugins;
        let (host, name) = (&*self.host, &self.name);
        let activated = activation.activate(host, statuses, name, self.number, bundle);
        activated.map_err(|error| failure(&error))?;
        info!(bundle = self.name, revision, "the bundle is active");
        Ok(())
    }
}
