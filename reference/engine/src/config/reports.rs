//! Sections `decision_logs` and `status`.

use std::path::{Path, PathBuf};

use prometheus_client::metrics::histogram::exponential_buckets;
use serde::Deserialize;

use super::bundles::BundleContext;
use super::disk::{BufferFull, BufferSync, Disk, RawDisk};
use super::seconds::{Delay, Seconds, Trigger};
use super::segments;

/// Default minimum and maximum seconds between two uploads of decisions.
const DEFAULT_DELAY: [u64; 2] = [300, 600];

/// Default maximum bytes of an upload.
const DEFAULT_UPLOAD: usize = 32 << 10;

/// Default maximum number of decisions in a buffer that counts decisions.
const DEFAULT_EVENTS: usize = 10_000;

/// Default maximum bytes of decisions in a buffer that counts bytes.
const DEFAULT_BYTES: usize = 256 << 20;

/// Default paths of the mask and drop policies.
const MASK: &str = "/system/log/mask";
const DROP: &str = "/system/log/drop";

/// Raw section `decision_logs`.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawDecisionLogs {
    #[serde(default)]
    console: bool,
    service: Option<String>,
    resource: Option<String>,
    partition_name: Option<String>,
    #[serde(default)]
    reporting: RawReporting,
    mask_decision: Option<String>,
    drop_decision: Option<String>,
    #[serde(default)]
    nd_builtin_cache: bool,
    #[serde(rename = "request_context")]
    request_context: Option<RequestContext>,
    #[serde(rename = "intermediate_results")]
    _intermediate_results: Option<serde_json::Value>,
    pub(super) plugin: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct RequestContext {
    http: Option<HttpContext>,
}

#[derive(Debug, Default, Deserialize)]
struct HttpContext {
    #[serde(default)]
    headers: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct RawReporting {
    min_delay_seconds: Option<Seconds>,
    max_delay_seconds: Option<Seconds>,
    #[serde(default)]
    buffer_type: BufferType,
    buffer_size_limit_bytes: Option<usize>,
    buffer_size_limit_events: Option<usize>,
    buffer_directory: Option<PathBuf>,
    buffer_disk_size_limit_bytes: Option<u64>,
    buffer_sync: Option<BufferSync>,
    buffer_full: Option<BufferFull>,
    upload_size_limit_bytes: Option<usize>,
    max_decisions_per_second: Option<f64>,
    #[serde(default)]
    trigger: UploadTrigger,
}

/// Trigger of uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UploadTrigger {
    /// Periodically.
    #[default]
    Periodic,
    /// Periodically, and as soon as the decisions fill an upload.
    Immediate,
    /// Only at shutdown: this program has no other manual trigger.
    Manual,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BufferType {
    #[default]
    Size,
    Event,
    Disk,
}

/// Settings of decision logging.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecisionLogs {
    /// Whether decisions are written to the log of the process.
    pub(crate) console: bool,
    /// Upload of decisions, if enabled.
    pub(crate) upload: Option<Upload>,
    /// Path of the mask decision.
    pub(crate) mask: Vec<String>,
    /// Path of the drop decision.
    pub(crate) drop: Vec<String>,
    /// Names of the request headers that are logged, in the spelling that the log uses.
    pub(crate) headers: Vec<String>,
    /// Whether results of non-deterministic functions are logged.
    pub(crate) calls: bool,
}

/// Destination and limits of uploads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Upload {
    pub(crate) service: String,
    pub(crate) resource: String,
    pub(crate) delay: Delay,
    pub(crate) trigger: UploadTrigger,
    /// Maximum number of decisions in the memory buffer.
    pub(crate) events: usize,
    /// Maximum bytes of decisions in the memory buffer.
    pub(crate) bytes: usize,
    /// Disk buffer, if decisions are not buffered in memory.
    pub(crate) disk: Option<Disk>,
    /// Maximum compressed bytes of one upload.
    pub(crate) chunk: usize,
    /// Maximum number of decisions accepted per second.
    pub(crate) rate: Option<f64>,
}

impl Upload {
    /// Whether the memory buffer limits the number of decisions instead of their bytes.
    pub(crate) fn counts_events(&self) -> bool {
        self.events != usize::MAX
    }
}

impl RawDecisionLogs {
    /// Validated settings of an engine with this persistence directory, if decisions are logged.
    pub(super) fn logs(
        &self,
        known: BundleContext<'_>,
        calls: bool,
        persistence: &Path,
    ) -> Result<Option<DecisionLogs>, String> {
        let upload = self.upload(known, persistence)?;
        if upload.is_none() && !self.console {
            return Ok(None);
        }
        let path = |configured: &Option<String>, default: &str| {
            segments(configured.as_deref().unwrap_or(default))
        };
        let http = self
            .request_context
            .as_ref()
            .and_then(|context| context.http.as_ref());
        let headers = http.map(|http| http.headers.as_slice()).unwrap_or_default();
        Ok(Some(DecisionLogs {
            console: self.console,
            upload,
            mask: path(&self.mask_decision, MASK),
            drop: path(&self.drop_decision, DROP),
            headers: headers.to_vec(),
            calls: calls || self.nd_builtin_cache,
        }))
    }

    fn upload(
        &self,
        known: BundleContext<'_>,
        persistence: &Path,
    ) -> Result<Option<Upload>, String> {
        let reporting = &self.reporting;
        let delay = Delay::of(
            reporting.min_delay_seconds,
            reporting.max_delay_seconds,
            DEFAULT_DELAY,
        )?;
        let (events, bytes) = reporting.memory()?;
        let disk = reporting.disk(persistence)?;
        let chunk = reporting.upload_size_limit_bytes.unwrap_or(DEFAULT_UPLOAD);
        for (name, value) in [
            ("buffer_size_limit_bytes", bytes),
            ("buffer_size_limit_events", events),
            ("upload_size_limit_bytes", chunk),
        ] {
            if value == 0 {
                return Err(format!("`{name}` must be greater than 0"));
            }
        }
        let Some(service) = reporter(self.service.as_deref(), self.console, known)? else {
            return Ok(None);
        };
        Ok(Some(Upload {
            service,
            resource: match (&self.resource, &self.partition_name) {
                (Some(resource), _) => resource.clone(),
                (None, Some(partition)) => format!("/logs/{partition}"),
                (None, None) => "/logs".to_owned(),
            },
            delay,
            trigger: reporting.trigger,
            events,
            bytes,
            disk,
            chunk,
            rate: reporting.max_decisions_per_second,
        }))
    }
}

impl RawReporting {
    /// Maximum number and maximum bytes of the decisions in the memory buffer.
    fn memory(&self) -> Result<(usize, usize), String> {
        let (events, bytes) = (self.buffer_size_limit_events, self.buffer_size_limit_bytes);
        let rate = self.max_decisions_per_second;
        if bytes.is_some() && rate.is_some() {
            let reason = "either `buffer_size_limit_bytes` or `max_decisions_per_second`";
            return Err(reason.to_owned());
        }
        if rate.is_some_and(|rate| !rate.is_finite() || rate <= 0.0) {
            return Err("`max_decisions_per_second` must be greater than 0".to_owned());
        }
        match (self.buffer_type, events, bytes) {
            (BufferType::Size | BufferType::Disk, Some(_), _) => {
                Err("`buffer_size_limit_events` needs the buffer type `event`".to_owned())
            }
            (BufferType::Event | BufferType::Disk, _, Some(_)) => {
                Err("`buffer_size_limit_bytes` needs the buffer type `size`".to_owned())
            }
            (BufferType::Size | BufferType::Disk, None, bytes) => {
                Ok((usize::MAX, bytes.unwrap_or(DEFAULT_BYTES)))
            }
            (BufferType::Event, events, None) => {
                Ok((events.unwrap_or(DEFAULT_EVENTS), DEFAULT_BYTES))
            }
        }
    }

    /// Disk buffer, if decisions are not buffered in memory.
    fn disk(&self, persistence: &Path) -> Result<Option<Disk>, String> {
        let shape = RawDisk {
            directory: self.buffer_directory.clone(),
            bytes: self.buffer_disk_size_limit_bytes,
            sync: self.buffer_sync,
            full: self.buffer_full,
        };
        match (self.buffer_type, shape.first_given()) {
            (BufferType::Disk, _) => shape.disk(persistence).map(Some),
            (_, Some(key)) => Err(format!("`{key}` needs the buffer type `disk`")),
            (_, None) => Ok(None),
        }
    }
}

/// Service that receives the reports: the named one, or else the first one, unless the reports have
/// another receiver (`has_local_output`).
fn reporter(
    name: Option<&str>,
    has_local_output: bool,
    known: BundleContext<'_>,
) -> Result<Option<String>, String> {
    match name {
        None if has_local_output || known.services.iter().len() == 0 => Ok(None),
        name => known.service(name, true).map(Some),
    }
}

/// Raw section `status`.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawStatus {
    #[serde(default)]
    console: bool,
    #[serde(default)]
    prometheus: bool,
    #[serde(default)]
    prometheus_config: RawPrometheus,
    service: Option<String>,
    partition_name: Option<String>,
    #[serde(default)]
    trigger: Trigger,
    pub(super) plugin: Option<String>,
}

/// Raw settings of the Prometheus metrics.
#[derive(Debug, Default, Deserialize)]
struct RawPrometheus {
    #[serde(default)]
    collectors: RawCollectors,
}

#[derive(Debug, Default, Deserialize)]
struct RawCollectors {
    #[serde(default)]
    bundle_loading_duration_ns: RawDurations,
}

#[derive(Debug, Default, Deserialize)]
struct RawDurations {
    #[serde(default)]
    buckets: Vec<f64>,
}

/// Settings of status reports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    /// Whether reports are written to the log of the process.
    pub(crate) console: bool,
    /// Upper bounds of the histogram buckets of bundle loading durations, in nanoseconds, if
    /// Prometheus is enabled.
    pub(crate) prometheus: Option<Vec<f64>>,
    /// Service and path that reports are sent to.
    pub(crate) service: Option<(String, String)>,
    pub(crate) trigger: Trigger,
}

impl RawStatus {
    /// Validated settings, if the reports have a receiver.
    pub(super) fn status(&self, known: BundleContext<'_>) -> Result<Option<Status>, String> {
        let buckets = self.buckets()?;
        let has_local_output = self.console || self.prometheus;
        let service = reporter(self.service.as_deref(), has_local_output, known)?;
        if service.is_none() && !has_local_output {
            return Ok(None);
        }
        let path = match &self.partition_name {
            Some(partition) => format!("/status/{partition}"),
            None => "/status".to_owned(),
        };
        Ok(Some(Status {
            console: self.console,
            prometheus: self.prometheus.then_some(buckets),
            service: service.map(|service| (service, path)),
            trigger: self.trigger,
        }))
    }

    /// Upper bounds of the histogram buckets of bundle loading durations, in nanoseconds.
    fn buckets(&self) -> Result<Vec<f64>, String> {
        let collectors = &self.prometheus_config.collectors;
        let buckets = &collectors.bundle_loading_duration_ns.buckets;
        if buckets.is_empty() {
            return Ok(exponential_buckets(1000.0, 2.0, 20).collect());
        }
        let growing = buckets.iter().is_sorted_by(|one, next| one < next);
        match growing && buckets.iter().all(|bound| bound.is_finite()) {
            true => Ok(buckets.clone()),
            false => {
                let place = "prometheus_config.collectors.bundle_loading_duration_ns";
                Err(format!("{place}: `buckets` must grow"))
            }
        }
    }
}
