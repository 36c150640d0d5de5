//! Prometheus metrics of the control plane. Metrics that OPA Control Plane also has use the same
//! names.

pub(super) mod get;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::model::{BuildResult, Kind};
use http_server::metrics::RequestDurations;
use http_server::process_metrics;

/// Upper bounds of the build duration buckets, in seconds.
const BUILD_BUCKETS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 5.0, 10.0, 30.0, 60.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    bundle: String,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BundleLabels {
    bundle: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: String,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UploadLabels {
    state: &'static str,
}

/// Label value for success.
const SUCCESS: &str = "SUCCESS";

/// Label value for failure.
const FAILED: &str = "FAILED";

/// Outcome of writing an archive to its storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upload {
    /// The archive was written.
    Success,
    /// The archive was written again, because it was missing in the storage.
    Repaired,
    /// The storage already contained the same archive.
    Unchanged,
    /// The archive could not be written.
    Failed,
}

/// All metrics, and the registry that exports them.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: RequestDurations,
    builds: Family<BuildLabels, Counter>,
    durations: Family<BundleLabels, Histogram, fn() -> Histogram>,
    syncs: Family<SourceLabels, Counter>,
    uploads: Family<UploadLabels, Counter>,
    /// Values of the label `state` that exist for each bundle and source, needed for removing them.
    named: Mutex<HashMap<(Kind, String), HashSet<&'static str>>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        process_metrics::register(&mut registry);
        let requests =
            RequestDurations::register(&mut registry, "ocp_http_request_duration_seconds");
        let builds = Family::default();
        let help = "Builds of bundles by what they came to";
        registry.register("ocp_bundle_build_count", help, builds.clone());
        let durations =
            Family::new_with_constructor((|| Histogram::new(BUILD_BUCKETS)) as fn() -> Histogram);
        let help = "Duration of builds that succeeded in seconds";
        registry.register("ocp_bundle_build_duration_seconds", help, durations.clone());
        let syncs = Family::default();
        let help = "Repositories read for builds";
        registry.register("ocp_git_sync_count", help, syncs.clone());
        let uploads = Family::default();
        let help = "Archives by what became of them";
        registry.register("ocp_bundle_upload_count", help, uploads.clone());
        Self {
            registry,
            requests,
            builds,
            durations,
            syncs,
            uploads,
            named: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Records a request.
    pub(super) fn observe_request(
        &self,
        handler: &'static str,
        method: &Method,
        status: StatusCode,
        duration: Duration,
    ) {
        self.requests.observe(handler, method, status, duration);
    }

    /// Records a build.
    pub(super) fn built(&self, bundle: &str, result: BuildResult, duration: Duration) {
        let state = result.name();
        self.name(Kind::Bundle, bundle, state);
        let bundle = bundle.to_owned();
        if result == BuildResult::Success {
            let labels = BundleLabels {
                bundle: bundle.clone(),
            };
            let histogram = self.durations.get_or_create(&labels);
            histogram.observe(duration.as_secs_f64());
        }
        self.builds
            .get_or_create(&BuildLabels { bundle, state })
            .inc();
    }

    /// Records whether reading the repository of a source succeeded.
    pub(super) fn synced(&self, source: &str, read: bool) {
        let state = if read { SUCCESS } else { FAILED };
        self.name(Kind::Source, source, state);
        let source = source.to_owned();
        self.syncs
            .get_or_create(&SourceLabels { source, state })
            .inc();
    }

    /// Records the outcome of an upload.
    pub(super) fn uploaded(&self, upload: Upload) {
        let state = match upload {
            Upload::Success => SUCCESS,
            Upload::Repaired => "REPAIRED",
            Upload::Unchanged => "UNCHANGED",
            Upload::Failed => FAILED,
        };
        self.uploads.get_or_create(&UploadLabels { state }).inc();
    }

    /// Removes the metrics of a deleted bundle or source.
    pub(super) fn forget(&self, kind: Kind, name: &str) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let states = named.remove(&(kind, name.to_owned()));
        drop(named);
        for state in states.into_iter().flatten() {
            match kind {
                Kind::Bundle => {
                    let bundle = name.to_owned();
                    self.builds.remove(&BuildLabels { bundle, state });
                }
                Kind::Source => {
                    let source = name.to_owned();
                    self.syncs.remove(&SourceLabels { source, state });
                }
                Kind::Stack | Kind::Secret => {}
            }
        }
        if kind == Kind::Bundle {
            let bundle = name.to_owned();
            self.durations.remove(&BundleLabels { bundle });
        }
    }

    /// Removes the metrics of all bundles and sources that are not in the set.
    pub(super) fn retain(&self, existing: &HashSet<(Kind, String)>) {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = named.keys().filter(|named| !existing.contains(named));
        let removed: Vec<(Kind, String)> = removed.cloned().collect();
        drop(named);
        for (kind, name) in removed {
            self.forget(kind, &name);
        }
    }

    /// Records that a value of the label `state` exists for a bundle or source.
    fn name(&self, kind: Kind, name: &str, state: &'static str) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let states = named.entry((kind, name.to_owned())).or_default();
        states.insert(state);
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn labels_of_what_is_gone_go() -> Result<(), std::fmt::Error> {
        let forget = |metrics: &Metrics| {
            metrics.forget(Kind::Bundle, "old-bundle");
            metrics.forget(Kind::Source, "old-source");
        };
        let retain = |metrics: &Metrics| {
            let existing = [(Kind::Bundle, "new-bundle"), (Kind::Source, "new-source")];
            metrics.retain(&existing.map(|(kind, name)| (kind, name.to_owned())).into());
        };
        for remove in [forget, retain] {
            let metrics = Metrics::default();
            for name in ["old", "new"] {
                for result in [BuildResult::Success, BuildResult::SyncFailed] {
                    metrics.built(&format!("{name}-bundle"), result, Duration::ZERO);
                    metrics.synced(&format!("{name}-source"), result == BuildResult::Success);
                }
            }
            let mut before = String::new();
            encode(&mut before, &metrics.registry)?;
            remove(&metrics);
            let mut after = String::new();
            encode(&mut after, &metrics.registry)?;
            for (text, name, expected) in [
                (&before, "old-bundle", true),
                (&before, "old-source", true),
                (&after, "old-bundle", false),
                (&after, "old-source", false),
                (&after, "new-bundle", true),
                (&after, "new-source", true),
            ] {
                assert_eq!(text.contains(name), expected, "{name}: {text}");
            }
        }
        Ok(())
    }
}
