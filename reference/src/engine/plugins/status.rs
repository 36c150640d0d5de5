//! Reports on the state of the engine.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use rego::Value;
use tokio::sync::watch;
use tracing::{error, info};

use super::board::DECISION_LOGS;
use super::clock::Pauses;
use super::prometheus::Collectors;
use super::service::{Client, ServiceError};
use crate::engine::Engine;
use crate::engine::config::{Delay, Trigger};

/// A report waits no longer after one that could not be sent.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A report that is sent is not longer.
const MAX_REPORT: usize = 64 << 20;

impl Engine {
    /// The state of the engine as `/v1/status` shows it and services are told.
    pub(in crate::engine) fn report(&self) -> Value {
        let plugins = self.plugins();
        let mut report = plugins.board.report();
        if let Some(logs) = report.get_mut(DECISION_LOGS).and_then(Value::as_object_mut)
            && let Some(buffer) = plugins.logs.shown()
        {
            logs.insert("buffer", buffer);
        }
        report.insert("labels", self.config().labels().clone());
        let counters = plugins.logs.counts().named();
        let counters =
            counters.map(|(name, count)| (format!("counter_{name}"), Value::from(count)));
        let metrics = Value::object([("prometheus", Value::object(counters))]);
        report.insert("metrics", metrics);
        Value::from(report)
    }
}

/// Reports every change.
#[derive(Debug)]
pub(super) struct Reporter {
    pub(super) engine: Engine,
    pub(super) console: bool,
    /// What counts the reports for Prometheus.
    pub(super) collectors: Option<Arc<Collectors>>,
    /// The service that is told, and the path there.
    pub(super) service: Option<(Arc<Client>, String)>,
    pub(super) trigger: Trigger,
}

impl Reporter {
    /// Goes on until it is told to stop, and then reports what it has not yet.
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        if self.trigger == Trigger::Manual {
            return;
        }
        let mut changes = self.engine.plugins().board.watch();
        changes.mark_changed();
        let mut pauses = Pauses::new(Delay {
            least: Duration::ZERO,
            most: LONGEST_PAUSE,
        });
        loop {
            let stopped = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => true,
                _ = changes.changed() => false,
            };
            if stopped && !changes.has_changed().unwrap_or_default() {
                return;
            }
            changes.mark_unchanged();
            let told = self.tell().await;
            if let Err(why) = &told {
                error!(%why, "the state of the engine cannot be reported");
                changes.mark_changed();
            }
            if stopped {
                return;
            }
            match told {
                Ok(()) => pauses.forgive(),
                Err(_) => tokio::select! {
                    () = tokio::time::sleep(pauses.after_failure()) => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                },
            }
        }
    }

    async fn tell(&self) -> Result<(), ServiceError> {
        let report = self.engine.report();
        if let Some(collectors) = &self.collectors {
            collectors.count(self.engine.plugins());
        }
        if self.console {
            info!(status = %report, "Status Log");
        }
        let Some((client, path)) = &self.service else {
            return Ok(());
        };
        let body = report.to_json(false, MAX_REPORT);
        let body = body.map_err(ServiceError::failed)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        client.post(path, &headers, Bytes::from(body)).await
    }
}
