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
mod merge;
mod persistence;
mod poll;
mod prometheus;
mod registry;
mod service;
mod status;
pub(crate) mod status_registry;

use std::fmt::Debug;

use arc_swap::ArcSwapOption;
use prometheus_client::registry::Registry;
use rego::{Value, Version};

use super::config::{self, Config};
use activation::Activation;
use bundle::{Bundle, BundleError};
use http_server::telemetry::Current;
pub(crate) use logs::{Entry, Unlogged};
pub use manager::Running;
use prometheus::Collectors;
use status_registry::StatusRegistry;

/// The engine as plugins see it: what they read and change.
pub(crate) trait Host: Debug + Send + Sync + 'static {
    /// Unique id of this instance.
    fn id(&self) -> &str;

    /// Rego version of policies that do not specify one.
    fn version(&self) -> Version;

    /// Labels of the current configuration.
    fn labels(&self) -> Value;

    /// Result of `opa.runtime` for a configuration without secrets.
    fn runtime(&self, redacted: &Value) -> Value;

    /// Applies another configuration from now on.
    fn configure(&self, config: Config);

    /// Activates bundles, all or none.
    ///
    /// # Errors
    /// When they conflict with each other or with the present contents. Then nothing changes.
    fn activate(&self, bundles: Vec<(String, Bundle)>) -> Result<(), BundleError>;

    /// Deactivates bundles and removes their contents.
    ///
    /// # Errors
    /// When other policies need the contents. Then nothing changes.
    fn deactivate(&self, names: &[String]) -> Result<(), BundleError>;
}

/// Shared state of the plugins, as requests see it.
#[derive(Debug, Default)]
pub(crate) struct Plugins {
    /// Statuses of the plugins.
    pub(crate) statuses: StatusRegistry,
    /// Queue of decisions for upload.
    logs: logs::LogQueue,
    activation: Activation,
    /// Tracer of spans, if configured.
    pub(crate) telemetry: Current,
    /// Prometheus collectors, if configured.
    collectors: ArcSwapOption<Collectors>,
}

impl Plugins {
    /// Creates the state before the plugins are started.
    pub(crate) fn new(config: &config::Plugins) -> Self {
        let plugins = Self::default();
        plugins.statuses.configure(config);
        plugins
    }

    /// Prometheus metrics of the plugins, if configured.
    pub(crate) fn registry(&self, config: &config::Plugins) -> Option<Registry> {
        let collectors = self.collectors.load();
        let collectors = collectors.as_ref()?;
        Some(collectors.registry(self, config.decision_logs.as_ref()))
    }
}
