//! Raw configuration: sections and keys that are accepted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rego::CacheLimits;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_ignored::Path;

use super::bundles::{BundleContext, Discovery, RawBundle, RawDiscovery, RawOnlyBundle, Source};
use super::caching::RawCaching;
use super::distributed_tracing::RawDistributedTracing;
use super::keys::Key;
use super::reports::{DecisionLogs, RawDecisionLogs, RawStatus, Status};
use super::services::Services;
use http_server::telemetry;

const DEFAULT_MAX_BODY: usize = 256 << 20;
const DEFAULT_MAX_DECODED_BODY: usize = 512 << 20;
const DEFAULT_GZIP_THRESHOLD: usize = 1024;
const DEFAULT_GZIP_LEVEL: u32 = 9;

/// Default directory of persisted bundles.
const PERSISTENCE: &str = ".opa";

/// Validated settings of plugins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plugins {
    /// Services that the engine connects to.
    pub(crate) services: Services,
    /// Keys that signatures are verified with.
    pub(crate) keys: BTreeMap<String, Key>,
    /// Bundles to load, by name.
    pub(crate) bundles: BTreeMap<String, Source>,
    /// Directory of persisted bundles.
    pub(crate) persistence: PathBuf,
    /// Discovery of the rest of the configuration.
    pub(crate) discovery: Option<Discovery>,
    /// Decision logging. Decisions have ids if it is enabled.
    pub(crate) decision_logs: Option<DecisionLogs>,
    /// Status reports.
    pub(crate) status: Option<Status>,
    /// Export of request spans.
    pub(crate) tracing: Option<telemetry::Settings>,
}

/// Whole configuration. Unknown keys are accepted without effect, as in OPA; the log names them.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawConfig {
    #[serde(default)]
    services: Services,
    #[serde(rename = "labels")]
    _labels: Option<BTreeMap<String, String>>,
    keys: Option<BTreeMap<String, Key>>,
    decision_logs: Option<RawDecisionLogs>,
    status: Option<RawStatus>,
    bundles: Option<BTreeMap<String, Option<RawBundle>>>,
    bundle: Option<RawOnlyBundle>,
    discovery: Option<RawDiscovery>,
    persistence_directory: Option<PathBuf>,
    plugins: Option<BTreeMap<String, IgnoredAny>>,
    caching: Option<RawCaching>,
    #[serde(default)]
    nd_builtin_cache: bool,
    server: Option<Server>,
    storage: Option<Storage>,
    distributed_tracing: Option<RawDistributedTracing>,
    pub(super) default_decision: Option<String>,
    pub(super) default_authorization_decision: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Storage {
    disk: Option<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Server {
    encoding: Option<Encoding>,
    decoding: Option<Decoding>,
    #[serde(rename = "logger_plugin")]
    _logger_plugin: Option<serde_json::Value>,
    metrics: Option<ServerMetrics>,
}

#[derive(Debug, Default, Deserialize)]
struct ServerMetrics {
    prom: Option<PrometheusMetrics>,
}

#[derive(Debug, Default, Deserialize)]
struct PrometheusMetrics {
    http_request_duration_seconds: Option<DurationMetrics>,
}

#[derive(Debug, Default, Deserialize)]
struct DurationMetrics {
    buckets: Option<Vec<f64>>,
}

#[derive(Debug, Default, Deserialize)]
struct Encoding {
    gzip: Option<GzipEncoding>,
}

#[derive(Debug, Default, Deserialize)]
struct GzipEncoding {
    min_length: Option<usize>,
    compression_level: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
struct Decoding {
    max_length: Option<usize>,
    gzip: Option<GzipDecoding>,
}

#[derive(Debug, Default, Deserialize)]
struct GzipDecoding {
    max_length: Option<usize>,
}

impl RawConfig {
    /// Parses a configuration from JSON text instead of a value, because error messages then name
    /// the offending number and the expected type.
    pub(super) fn of(json: &[u8]) -> Result<Self, String> {
        let shape: Self = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        shape.validate()
    }

    fn validate(self) -> Result<Self, String> {
        for (name, value) in [
            ("server.decoding.max_length", self.max_body()),
            ("server.decoding.gzip.max_length", self.max_decoded_body()),
            ("server.encoding.gzip.min_length", self.gzip_threshold()),
        ] {
            if value == 0 {
                return Err(format!("{name} must be greater than 0"));
            }
        }
        if !matches!(self.gzip_level(), 0 | 1 | 9) {
            return Err("server.encoding.gzip.compression_level must be 0, 1 or 9".to_owned());
        }
        let buckets = self.buckets().unwrap_or_default();
        let increasing = buckets
            .windows(2)
            .all(|pair| matches!(pair, [low, high] if low < high));
        if !increasing {
            let key = "server.metrics.prom.http_request_duration_seconds.buckets";
            return Err(format!("{key} must increase"));
        }
        let logs = self.decision_logs.as_ref();
        let status = self.status.as_ref();
        for (section, plugin) in [
            (
                "plugins",
                self.plugins.iter().flatten().map(|(name, _)| name).next(),
            ),
            ("decision_logs", logs.and_then(|logs| logs.plugin.as_ref())),
            ("status", status.and_then(|status| status.plugin.as_ref())),
        ] {
            if let Some(plugin) = plugin {
                return Err(format!("{section}: there is no plugin `{plugin}`"));
            }
        }
        if self
            .storage
            .as_ref()
            .is_some_and(|storage| storage.disk.is_some())
        {
            return Err(
                "storage.disk: documents are kept in memory; bundles with `persist: true` are \
                 there again after a restart without their service"
                    .to_owned(),
            );
        }
        self.caches().map(|_| self)
    }

    /// Limits of the caches that evaluations share.
    pub(super) fn caches(&self) -> Result<CacheLimits, String> {
        match &self.caching {
            Some(caching) => caching
                .limits()
                .map_err(|error| format!("caching: {error}")),
            None => Ok(CacheLimits::default()),
        }
    }

    /// Validates the sections that refer to services and keys.
    pub(super) fn plugins(mut self) -> Result<Plugins, String> {
        let keys = self.keys.take().unwrap_or_default();
        let persistence = self.persistence_directory.take();
        let persistence = persistence.unwrap_or_else(|| PathBuf::from(PERSISTENCE));
        for service in self.services.iter() {
            service.check()?;
        }
        for (name, key) in &keys {
            key.check(name)?;
        }
        self.services.take_keys(&keys)?;
        let known = BundleContext {
            services: &self.services,
            keys: &keys,
        };
        let discovery = self.discovery.as_ref().map(|shape| shape.discovery(known));
        let logs = self
            .decision_logs
            .as_ref()
            .map(|shape| shape.logs(known, self.nd_builtin_cache, &persistence));
        let status = self.status.as_ref().map(|shape| shape.status(known));
        let tracing = self.distributed_tracing.as_ref();
        let tracing = tracing.map(RawDistributedTracing::settings).transpose();
        let at = |section: &'static str| move |reason: String| format!("{section}: {reason}");
        Ok(Plugins {
            bundles: self.bundles(known)?,
            discovery: discovery.transpose().map_err(at("discovery"))?,
            decision_logs: logs.transpose().map_err(at("decision_logs"))?.flatten(),
            status: status.transpose().map_err(at("status"))?.flatten(),
            tracing: tracing.map_err(at("distributed_tracing"))?.flatten(),
            persistence,
            services: self.services,
            keys,
        })
    }

    fn bundles(&self, known: BundleContext<'_>) -> Result<BTreeMap<String, Source>, String> {
        let unset = RawBundle::default();
        let only = self.bundle.clone().map(RawOnlyBundle::named);
        let bundles = self.bundles.iter().flatten();
        let bundles = bundles.map(|(name, bundle)| (name, bundle.as_ref().unwrap_or(&unset)));
        let only = only.iter().map(|(name, bundle)| (name, bundle));
        let sources = only.chain(bundles).map(|(name, bundle)| {
            let source = bundle.source(name, known);
            let source = source.map_err(|error| format!("bundles: `{name}`: {error}"))?;
            Ok((name.clone(), source))
        });
        sources.collect()
    }

    fn decoding(&self) -> Option<&Decoding> {
        self.server.as_ref()?.decoding.as_ref()
    }

    fn gzip_encoding(&self) -> Option<&GzipEncoding> {
        self.server.as_ref()?.encoding.as_ref()?.gzip.as_ref()
    }

    /// Upper bounds of the histogram buckets of request durations.
    pub(super) fn buckets(&self) -> Option<&[f64]> {
        let prometheus = self.server.as_ref()?.metrics.as_ref()?.prom.as_ref()?;
        let durations = prometheus.http_request_duration_seconds.as_ref()?;
        durations.buckets.as_deref()
    }

    pub(super) fn max_body(&self) -> usize {
        let max_length = self.decoding().and_then(|decoding| decoding.max_length);
        max_length.unwrap_or(DEFAULT_MAX_BODY)
    }

    pub(super) fn max_decoded_body(&self) -> usize {
        let gzip = self.decoding().and_then(|decoding| decoding.gzip.as_ref());
        let max_length = gzip.and_then(|gzip| gzip.max_length);
        max_length.unwrap_or(DEFAULT_MAX_DECODED_BODY)
    }

    pub(super) fn gzip_threshold(&self) -> usize {
        let min_length = self.gzip_encoding().and_then(|gzip| gzip.min_length);
        min_length.unwrap_or(DEFAULT_GZIP_THRESHOLD)
    }

    pub(super) fn gzip_level(&self) -> u32 {
        let level = self.gzip_encoding().and_then(|gzip| gzip.compression_level);
        level.unwrap_or(DEFAULT_GZIP_LEVEL)
    }
}

/// Paths of the unknown keys of a configuration.
pub(super) fn unknown_keys(json: &str) -> Vec<String> {
    let mut unknown = Vec::new();
    // The caller refuses an invalid configuration when it parses the configuration for use.
    each_unknown(json, |path| {
        // A question mark in a path marks an optional value.
        unknown.push(path.to_string().replace(".?", ""));
    });
    unknown
}

/// Unknown keys as paths of names and indices, if the configuration can be parsed.
pub(super) fn unknown_paths(json: &str) -> Option<Vec<Vec<String>>> {
    let mut unknown = Vec::new();
    let is_valid = each_unknown(json, |path| {
        let mut segments = Vec::new();
        push_segments(path, &mut segments);
        unknown.push(segments);
    });
    is_valid.then_some(unknown)
}

/// Reports each unknown key; returns whether the whole configuration could be parsed.
fn each_unknown(json: &str, mut show: impl FnMut(&Path<'_>)) -> bool {
    let mut json = serde_json::Deserializer::from_str(json);
    let shape: Result<RawConfig, _> = serde_ignored::deserialize(&mut json, |path| show(&path));
    shape.is_ok()
}

fn push_segments(path: &Path<'_>, segments: &mut Vec<String>) {
    match path {
        Path::Root => {}
        Path::Seq { parent, index } => {
            push_segments(parent, segments);
            segments.push(index.to_string());
        }
        Path::Map { parent, key } => {
            push_segments(parent, segments);
            segments.push(key.clone());
        }
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => push_segments(parent, segments),
    }
}

/// Validates a JSON configuration; the error has line and column.
pub(super) fn check(json: &[u8]) -> Result<(), String> {
    RawConfig::of(json).map(drop)
}

/// Validates a YAML configuration; the error has line and column.
pub(super) fn check_yaml(text: &str) -> Result<(), String> {
    let shape: Option<RawConfig> = serde_yaml::from_str(text).map_err(|error| {
        let message = error.to_string();
        // The library omits the position at the start of the source.
        match message.contains(" at line ") {
            true => message,
            false => format!("{message} at line 1 column 1"),
        }
    })?;
    shape.unwrap_or_default().validate().map(drop)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{RawConfig, unknown_keys};

    #[rstest]
    #[case::known_sections(r#"{"labels": {"a": "b"}, "plugins": {}}"#, &[])]
    #[case::known_and_without_effect(
        r#"{"decision_logs": {"intermediate_results": {}}, "server": {"logger_plugin": "a"}}"#,
        &[]
    )]
    #[case::own_section(r#"{"own": {"a": 1}}"#, &["own"])]
    #[case::in_a_service(
        r#"{"services": {"s": {"url": "http://s", "ulr": "x"}}}"#,
        &["services.s.ulr"]
    )]
    #[case::in_a_list_of_services(
        r#"{"services": [{"name": "s", "url": "http://s", "ulr": "x"}]}"#,
        &["services.0.ulr"]
    )]
    #[case::below_a_section(
        r#"{"discovery": {"resource": "a", "polling": {"delay": 1}}}"#,
        &["discovery.polling.delay"]
    )]
    #[case::in_a_bundle_and_a_key(
        r#"{"bundles": {"b": {"folder": 1}}, "keys": {"k": {"secret": "x"}}}"#,
        &["bundles.b.folder", "keys.k.secret"]
    )]
    #[case::in_metrics_and_tracing(
        r#"{"server": {"metrics": {"own": {}}}, "distributed_tracing": {"tpye": "grpc"}}"#,
        &["server.metrics.own", "distributed_tracing.tpye"]
    )]
    fn what_is_not_known_has_no_effect_and_is_named(#[case] json: &str, #[case] unknown: &[&str]) {
        let mut found = unknown_keys(json);
        found.sort_unstable();
        let mut expected = unknown.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(RawConfig::of(json.as_bytes()).is_ok());
    }
}
