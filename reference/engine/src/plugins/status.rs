//! Status plugin: reports the state of all plugins.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use rego::Value;
use rego::value::TooLong;
use tokio::sync::watch;
use tracing::{error, info};

use super::backoff::Backoff;
use super::prometheus::Collectors;
use super::service::{Client, ServiceError};
use super::status_registry::DECISION_LOGS;
use super::{Host, Plugins};
use crate::config::{Delay, Trigger};
use http_server::log::{CONSOLE, Json};

/// Maximum delay of a report after a failed one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Maximum bytes of a report.
const MAX_REPORT: usize = 64 << 20;

impl Plugins {
    /// State of an engine with these labels, for `/v1/status` and status reports.
    pub(crate) fn report(&self, labels: Value) -> Value {
        let mut report = self.statuses.report();
        if let Some(logs) = report.get_mut(DECISION_LOGS).and_then(Value::as_object_mut)
            && let Some(buffer) = self.logs.report()
        {
            logs.insert("buffer", buffer);
        }
        report.insert("labels", labels);
        let counters = self.logs.counts().by_name();
        let counters =
            counters.map(|(name, count)| (format!("counter_{name}"), Value::from(count)));
        let metrics = Value::object([("prometheus", Value::object(counters))]);
        report.insert("metrics", metrics);
        Value::from(report)
    }
}

/// Reports every change of the plugins' state.
#[derive(Debug)]
pub(super) struct Reporter {
    pub(super) host: Arc<dyn Host>,
    pub(super) plugins: Arc<Plugins>,
    pub(super) console: bool,
    /// Prometheus collectors of the reports.
    pub(super) collectors: Option<Arc<Collectors>>,
    /// Service that receives reports, and the path on it.
    pub(super) service: Option<(Arc<Client>, String)>,
    pub(super) trigger: Trigger,
}

impl Reporter {
    /// Runs until it is stopped, and then sends a pending report.
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        if self.trigger == Trigger::Manual {
            return;
        }
        let mut changes = self.plugins.statuses.watch();
        changes.mark_changed();
        let mut pauses = Backoff::new(Delay {
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
            let outcome = self.report().await;
            if let Err(error) = &outcome {
                error!(why = %error, "the state of the engine cannot be reported");
                changes.mark_changed();
            }
            if stopped {
                return;
            }
            match outcome {
                Ok(()) => pauses.forgive(),
                Err(_) => tokio::select! {
                    () = tokio::time::sleep(pauses.after_failure()) => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                },
            }
        }
    }

    async fn report(&self) -> Result<(), ServiceError> {
        let report = self.plugins.report(self.host.labels());
        if let Some(collectors) = &self.collectors {
            collectors.count(&self.plugins);
        }
        if self.console {
            print(&report).map_err(ServiceError::failed)?;
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

/// Writes a report to the log of the process; members of the report are members of the line.
///
/// # Errors
/// When a member is too long. Then nothing is written.
fn print(report: &Value) -> Result<(), TooLong> {
    let json = |name| {
        let member = report.get(name);
        let member = member.map(|member| Json::new(member, MAX_REPORT));
        Ok::<_, TooLong>(member.transpose()?.map(tracing::field::display))
    };
    info!(
        target: CONSOLE,
        labels = json("labels")?,
        "type" = "openpolicyagent.org/status",
        bundles = json("bundles")?,
        decision_logs = json("decision_logs")?,
        discovery = json("discovery")?,
        plugins = json("plugins")?,
        metrics = json("metrics")?,
        "Status Log"
    );
    Ok(())
}
