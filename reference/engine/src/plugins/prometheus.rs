//! Prometheus metrics of plugins, with the names of Open Policy Agent.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::Registry;

use super::Plugins;
use super::status_registry::{BundleStatus, Failure};
use crate::config::{DecisionLogs, Upload};

/// Time of events that have never happened, in nanoseconds since 1970.
const NEVER: f64 = -6_795_364_578_871_345_152.0;

/// Maximum number of distinct failures; when it is exceeded, the counts restart.
const MAX_FAILURES: u64 = 1000;

/// Maximum number of characters of a failure's message.
const MAX_MESSAGE: usize = 256;

/// Names of the measured steps of loading a bundle.
const STAGES: [&str; 3] = [
    "timer_bundle_request_ns",
    "timer_rego_load_bundles_ns",
    "timer_rego_module_compile_ns",
];

/// Metrics collected from status reports.
#[derive(Debug)]
pub(crate) struct Collectors {
    loaded: Family<Named, Count>,
    failed: Family<Failed, Count>,
    /// Number of distinct failures.
    failures: AtomicU64,
    durations: Family<StageLabels, Histogram, Buckets>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Version {
    version: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Plugin {
    name: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Named {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Activated {
    name: String,
    active_revision: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failed {
    name: String,
    code: &'static str,
    message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StageLabels {
    name: String,
    stage: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UploadLabels {
    code: &'static str,
    http_code: String,
}

/// Counter whose name is shown without the suffix `_total` of counters.
#[derive(Debug, Clone, Default)]
struct Count(Arc<AtomicU64>);

impl TypedMetric for Count {
    const TYPE: MetricType = MetricType::Unknown;
}

impl EncodeMetric for Count {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        encoder.encode_gauge(&self.0.load(Ordering::Relaxed))
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Upper bounds of histogram buckets.
#[derive(Debug, Clone)]
struct Buckets(Vec<f64>);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

impl Collectors {
    /// Creates empty collectors with these upper bounds of duration buckets, in nanoseconds.
    pub(super) fn new(buckets: &[f64]) -> Self {
        Self {
            loaded: Family::default(),
            failed: Family::default(),
            failures: AtomicU64::new(0),
            durations: Family::new_with_constructor(Buckets(buckets.to_vec())),
        }
    }

    /// Counts the results in a status report.
    pub(super) fn count(&self, plugins: &Plugins) {
        for (name, status) in plugins.statuses.bundles() {
            for stage in STAGES {
                if let Some(time) = status.times.get(stage) {
                    let name = name.clone();
                    let durations = self.durations.get_or_create(&StageLabels { name, stage });
                    #[expect(clippy::cast_precision_loss, reason = "the clock is less precise")]
                    durations.observe(*time as f64);
                }
            }
            match (status.failure, status.activated) {
                (None, Some(_)) => self.loaded.get_or_create(&Named { name }).add(),
                (Some(failure), _) => self.fail(name, failure),
                (None, None) => {}
            }
        }
    }

    fn fail(&self, name: String, failure: Failure) {
        let failed = Failed {
            name,
            code: failure.code,
            message: failure.message.chars().take(MAX_MESSAGE).collect(),
        };
        if self.failed.get(&failed).is_none()
            && self.failures.fetch_add(1, Ordering::Relaxed) >= MAX_FAILURES
        {
            self.failed.clear();
            self.failures.store(1, Ordering::Relaxed);
        }
        self.failed.get_or_create(&failed).add();
    }

    /// Registry of the counts and the current state.
    pub(crate) fn registry(&self, plugins: &Plugins, logs: Option<&DecisionLogs>) -> Registry {
        let mut registry = Registry::default();
        let version = env!("CARGO_PKG_VERSION");
        gauges(&mut registry, "opa_info", [(Version { version }, 1.0)]);
        let states = plugins.statuses.states();
        let states = states.map(|(name, status)| (Plugin { name, status }, 1.0));
        gauges(&mut registry, "plugin_status_gauge", states);
        let help = "Reports of bundles that are loaded";
        registry.register("bundle_loaded_counter", help, self.loaded.clone());
        let help = "Reports of bundles that are not loaded";
        registry.register("bundle_failed_load_counter", help, self.failed.clone());
        let help = "Duration of the steps of loading a bundle";
        registry.register("bundle_loading_duration_ns", help, self.durations.clone());
        bundles(&mut registry, &plugins.statuses.bundles());
        if let Some(logs) = logs {
            decisions(&mut registry, plugins, logs.upload.as_ref());
        }
        registry
    }
}

fn bundles(registry: &mut Registry, bundles: &[(String, BundleStatus)]) {
    type Time = fn(&BundleStatus) -> Option<SystemTime>;
    for (metric, time) in [
        ("last_bundle_request", (|status| status.requested) as Time),
        ("last_success_bundle_request", |status| status.answered),
        ("last_success_bundle_download", |status| status.downloaded),
    ] {
        let named = |name: &String| Named { name: name.clone() };
        let times = bundles.iter();
        let times = times.map(|(name, status)| (named(name), nanoseconds(time(status))));
        gauges(registry, metric, times);
    }
    let activations = bundles.iter().map(|(name, status)| {
        let (name, active_revision) = (name.clone(), status.revision.clone());
        let activated = Activated {
            name,
            active_revision,
        };
        (activated, nanoseconds(status.activated))
    });
    gauges(registry, "last_success_bundle_activation", activations);
}

fn decisions(registry: &mut Registry, plugins: &Plugins, upload: Option<&Upload>) {
    let failure = plugins.statuses.upload_failure();
    let http_code = failure.as_ref().and_then(|failure| failure.http_code);
    let uploaded = UploadLabels {
        code: failure.map_or("", |failure| failure.code),
        http_code: http_code.map(|code| code.to_string()).unwrap_or_default(),
    };
    gauges(registry, "decision_logs_status_gauge", [(uploaded, 1.0)]);
    for (name, count) in plugins.logs.counts().by_name() {
        let counter = Counter::<u64>::default();
        counter.inc_by(count);
        registry.register(name, "Decision log", counter);
    }
    let Some(upload) = upload else {
        return;
    };
    let (events, bytes) = plugins.logs.size();
    let on_disk = upload.disk.is_some();
    for (name, size, is_exported) in [
        (
            "decision_logs_buffer_size_events",
            events,
            on_disk || upload.counts_events(),
        ),
        (
            "decision_logs_buffer_size_bytes",
            bytes,
            on_disk || !upload.counts_events(),
        ),
    ] {
        if is_exported {
            let waiting = Gauge::<i64>::default();
            waiting.set(i64::try_from(size).unwrap_or(i64::MAX));
            registry.register(name, "Decisions that wait for their upload", waiting);
        }
    }
}

/// Registers values as gauges by their labels.
fn gauges<L>(registry: &mut Registry, name: &str, values: impl IntoIterator<Item = (L, f64)>)
where
    L: Clone + Debug + Eq + Hash + EncodeLabelSet + Send + Sync + 'static,
{
    let family = Family::<L, Gauge<f64, AtomicU64>>::default();
    for (labels, value) in values {
        family.get_or_create(&labels).set(value);
    }
    let help = match name.starts_with("last_") {
        true => "Time in nanoseconds since 1970",
        false => "State of the engine",
    };
    registry.register(name, help, family);
}

/// Time in nanoseconds since 1970.
fn nanoseconds(time: Option<SystemTime>) -> f64 {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    #[expect(
        clippy::cast_precision_loss,
        reason = "metrics are floating-point numbers"
    )]
    since.map_or(NEVER, |since| since.as_nanos() as f64)
}
