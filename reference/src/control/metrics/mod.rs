//! Measurements of the control plane, for Prometheus. Those that OPA Control Plane has, too, have
//! its names.

pub(super) mod get;

use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::http::metrics::RequestDurations;

/// Upper bounds in seconds of the durations of builds.
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

/// What became of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upload {
    /// It was written.
    Success,
    /// It was there already.
    Unchanged,
    /// It could not be written.
    Failed,
}

/// What is measured.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: RequestDurations,
    builds: Family<BuildLabels, Counter>,
    durations: Family<BundleLabels, Histogram, fn() -> Histogram>,
    syncs: Family<SourceLabels, Counter>,
    uploads: Family<UploadLabels, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
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
        }
    }
}

impl Metrics {
    /// Takes up a request.
    pub(super) fn answered(
        &self,
        handler: &'static str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        self.requests.observe(handler, method, status, took);
    }

    /// Takes up a build.
    pub(super) fn built(&self, bundle: &str, state: &'static str, took: Duration) {
        let bundle = bundle.to_owned();
        if state == "SUCCESS" {
            let labels = BundleLabels {
                bundle: bundle.clone(),
            };
            let histogram = self.durations.get_or_create(&labels);
            histogram.observe(took.as_secs_f64());
        }
        self.builds
            .get_or_create(&BuildLabels { bundle, state })
            .inc();
    }

    /// Takes up repositories that a build has read, by their sources.
    pub(super) fn synced<'s>(&self, sources: impl Iterator<Item = &'s String>) {
        for source in sources {
            let labels = SourceLabels {
                source: source.clone(),
                state: "SUCCESS",
            };
            self.syncs.get_or_create(&labels).inc();
        }
    }

    /// Takes up what became of an archive.
    pub(super) fn uploaded(&self, upload: Upload) {
        let state = match upload {
            Upload::Success => "SUCCESS",
            Upload::Unchanged => "UNCHANGED",
            Upload::Failed => "FAILED",
        };
        self.uploads.get_or_create(&UploadLabels { state }).inc();
    }
}
