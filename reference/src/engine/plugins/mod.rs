//! Plugins: background tasks of the engine.

mod activation;
mod backoff;
mod bundles;
mod connector;
mod credentials;
mod discovery;
mod download;
mod logs;
mod manager;
mod persistence;
mod poll;
mod prometheus;
mod registry;
mod service;
mod status;
pub(in crate::engine) mod status_registry;

use std::fmt::Debug;

use arc_swap::ArcSwapOption;
use prometheus_client::registry::Registry;
use rego::{Value, Version};

use super::config::{self, Config};
use crate::bundle::{Bundle, BundleError};
use crate::telemetry::Current;
use activation::Activation;
pub(in crate::engine) use logs::{Entry, Unlogged};
pub(crate) use manager::Running;
use prometheus::Collectors;
use status_registry::StatusRegistry;

/// The engine as plugins know it: what they read of it, and what they change.
pub(in crate::engine) trait Host: Debug + Send + Sync + 'static {
    /// What tells this instance from others.
    fn id(&self) -> &str;

    /// The version of policies that do not say theirs.
    fn version(&self) -> Version;

    /// The labels of the configuration as it is now.
    fn labels(&self) -> Value;

    /// What policies are told of the engine and of this configuration, which is without secrets.
    fn runtime(&self, redacted: &Value) -> Value;

    /// Goes by another configuration from now on.
    fn configure(&self, config: Config);

    /// Activates bundles, all or none.
    ///
    /// # Errors
    /// When they cannot be active together with everything else. Then nothing changes.
    fn activate(&self, bundles: Vec<(String, Bundle)>) -> Result<(), BundleError>;

    /// Takes away bundles with all that they brought.
    ///
    /// # Errors
    /// When other policies need theirs. Then nothing changes.
    fn deactivate(&self, names: &[String]) -> Result<(), BundleError>;
}

/// What requests see of the plugins.
#[derive(Debug, Default)]
pub(in crate::engine) struct Plugins {
    /// What the plugins say of themselves.
    pub(in crate::engine) statuses: StatusRegistry,
    /// Decisions that wait for their upload.
    logs: logs::LogQueue,
    activation: Activation,
    /// What begins spans, if anything does.
    pub(in crate::engine) telemetry: Current,
    /// What is counted for Prometheus, if anything is.
    collectors: ArcSwapOption<Collectors>,
}

impl Plugins {
    /// What there is to see before the plugins are started.
    pub(in crate::engine) fn new(config: &config::Plugins) -> Self {
        let plugins = Self::default();
        plugins.statuses.configure(config);
        plugins
    }

    /// What Prometheus is shown of them, if anything is.
    pub(in crate::engine) fn registry(&self, config: &config::Plugins) -> Option<Registry> {
        let collectors = self.collectors.load();
        let collectors = collectors.as_ref()?;
        Some(collectors.registry(self, config.decision_logs.as_ref()))
    }
}
