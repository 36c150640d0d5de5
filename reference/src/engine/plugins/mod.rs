//! Plugins: what the engine does by itself beside answering requests.

use std::sync::atomic::AtomicU64;

mod activation;
mod aws;
pub(in crate::engine) mod board;
mod bundles;
mod clock;
mod credentials;
mod discovery;
mod download;
mod keep;
mod logs;
mod manager;
mod poll;
mod prometheus;
mod service;
mod status;

use prometheus_client::registry::Registry;

use super::config;
use activation::Activation;
use arc_swap::ArcSwapOption;
use board::Board;
pub(in crate::engine) use logs::{Event, Subject};
pub(crate) use manager::Running;
use prometheus::Collectors;

/// What requests see of the plugins.
#[derive(Debug, Default)]
pub(in crate::engine) struct Plugins {
    /// What the plugins say of themselves.
    pub(in crate::engine) board: Board,
    /// Decisions that wait for their upload.
    logs: logs::Backlog,
    /// How many decisions there were for the log.
    decisions: AtomicU64,
    activation: Activation,
    /// What is counted for Prometheus, if anything is.
    collectors: ArcSwapOption<Collectors>,
}

impl Plugins {
    /// What there is to see before the plugins are started.
    pub(in crate::engine) fn new(config: &config::Plugins) -> Self {
        let plugins = Self::default();
        plugins.board.configure(config);
        plugins
    }

    /// What Prometheus is shown of them, if anything is.
    pub(in crate::engine) fn registry(&self, config: &config::Plugins) -> Option<Registry> {
        let collectors = self.collectors.load();
        let collectors = collectors.as_ref()?;
        Some(collectors.registry(self, config.decision_logs.as_ref()))
    }
}
