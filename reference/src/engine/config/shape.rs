//! The sections and keys that a configuration may have.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rego::CacheLimits;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::bundles::{BundleShape, Discovery, DiscoveryShape, Key, Known, Source};
use super::caching::CachingShape;
use super::reports::{DecisionLogs, DecisionLogsShape, Status, StatusShape};
use super::services::Services;

const DEFAULT_MAX_BODY: usize = 256 << 20;
const DEFAULT_MAX_DECODED_BODY: usize = 512 << 20;
const DEFAULT_GZIP_THRESHOLD: usize = 1024;
const DEFAULT_GZIP_LEVEL: u32 = 9;

/// Where bundles are kept, unless the configuration says otherwise.
const PERSISTENCE: &str = ".opa";

/// What plugins do.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct Plugins {
    /// Who the engine talks to.
    pub(in crate::engine) services: Services,
    /// The keys that signatures are verified with.
    pub(in crate::engine) keys: BTreeMap<String, Key>,
    /// The bundles that are loaded.
    pub(in crate::engine) bundles: BTreeMap<String, Source>,
    /// Where bundles are kept.
    pub(in crate::engine) persistence: PathBuf,
    /// Where the rest of the configuration is discovered.
    pub(in crate::engine) discovery: Option<Discovery>,
    /// What is done with decisions, which have ids if anything is.
    pub(in crate::engine) decision_logs: Option<DecisionLogs>,
    /// Who is told about the state of the engine.
    pub(in crate::engine) status: Option<Status>,
}

/// A whole configuration. What has no effect is taken as it is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Shape {
    #[serde(default)]
    services: Services,
    #[serde(rename = "labels")]
    _labels: Option<BTreeMap<String, String>>,
    keys: Option<BTreeMap<String, Key>>,
    decision_logs: Option<DecisionLogsShape>,
    status: Option<StatusShape>,
    bundles: Option<BTreeMap<String, Option<BundleShape>>>,
    discovery: Option<DiscoveryShape>,
    persistence_directory: Option<PathBuf>,
    plugins: Option<BTreeMap<String, IgnoredAny>>,
    caching: Option<CachingShape>,
    #[serde(default)]
    nd_builtin_cache: bool,
    server: Option<Server>,
    pub(super) default_decision: Option<String>,
    pub(super) default_authorization_decision: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    encoding: Option<Encoding>,
    decoding: Option<Decoding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoding {
    gzip: Option<GzipEncoding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GzipEncoding {
    min_length: Option<usize>,
    compression_level: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decoding {
    max_length: Option<usize>,
    gzip: Option<GzipDecoding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GzipDecoding {
    max_length: Option<usize>,
}

impl Shape {
    /// The shape of a configuration in JSON. It is read from text, since messages about a number
    /// then say which it is and what was expected.
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
        if self.gzip_level() > 9 {
            return Err("server.encoding.gzip.compression_level must be 0 to 9".to_owned());
        }
        if let Some(name) = self.plugins.iter().flatten().map(|(name, _)| name).next() {
            return Err(format!("plugins: there is no plugin `{name}`"));
        }
        self.caches().map(|_| self)
    }

    /// How much evaluations keep for each other.
    pub(super) fn caches(&self) -> Result<CacheLimits, String> {
        match &self.caching {
            Some(caching) => caching.limits().map_err(|why| format!("caching: {why}")),
            None => Ok(CacheLimits::default()),
        }
    }

    /// The sections that name services and keys.
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
        let known = Known {
            services: &self.services,
            keys: &keys,
        };
        let discovery = self.discovery.as_ref().map(|shape| shape.discovery(known));
        let logs = self
            .decision_logs
            .as_ref()
            .map(|shape| shape.logs(known, self.nd_builtin_cache, &persistence));
        let status = self.status.as_ref().map(|shape| shape.status(known));
        let at = |section: &'static str| move |why: String| format!("{section}: {why}");
        Ok(Plugins {
            bundles: self.bundles(known)?,
            discovery: discovery.transpose().map_err(at("discovery"))?,
            decision_logs: logs.transpose().map_err(at("decision_logs"))?.flatten(),
            status: status.transpose().map_err(at("status"))?.flatten(),
            persistence,
            services: self.services,
            keys,
        })
    }

    fn bundles(&self, known: Known<'_>) -> Result<BTreeMap<String, Source>, String> {
        let unset = BundleShape::default();
        let bundles = self.bundles.iter().flatten().map(|(name, bundle)| {
            let source = bundle.as_ref().unwrap_or(&unset).source(name, known);
            let source = source.map_err(|why| format!("bundles: `{name}`: {why}"))?;
            Ok((name.clone(), source))
        });
        bundles.collect()
    }

    fn decoding(&self) -> Option<&Decoding> {
        self.server.as_ref()?.decoding.as_ref()
    }

    fn gzip_encoding(&self) -> Option<&GzipEncoding> {
        self.server.as_ref()?.encoding.as_ref()?.gzip.as_ref()
    }

    pub(super) fn max_body(&self) -> usize {
        let given = self.decoding().and_then(|decoding| decoding.max_length);
        given.unwrap_or(DEFAULT_MAX_BODY)
    }

    pub(super) fn max_decoded_body(&self) -> usize {
        let gzip = self.decoding().and_then(|decoding| decoding.gzip.as_ref());
        let given = gzip.and_then(|gzip| gzip.max_length);
        given.unwrap_or(DEFAULT_MAX_DECODED_BODY)
    }

    pub(super) fn gzip_threshold(&self) -> usize {
        let given = self.gzip_encoding().and_then(|gzip| gzip.min_length);
        given.unwrap_or(DEFAULT_GZIP_THRESHOLD)
    }

    pub(super) fn gzip_level(&self) -> u32 {
        let given = self.gzip_encoding().and_then(|gzip| gzip.compression_level);
        given.unwrap_or(DEFAULT_GZIP_LEVEL)
    }
}

/// Says with line and column what a JSON configuration has that is not known.
pub(super) fn check(json: &[u8]) -> Result<(), String> {
    Shape::of(json).map(drop)
}

/// Says with line and column what a YAML configuration has that is not known.
pub(super) fn check_yaml(text: &str) -> Result<(), String> {
    let shape: Option<Shape> = serde_yaml::from_str(text).map_err(|error| {
        let message = error.to_string();
        // The library leaves out the place when it is the start of the text.
        match message.contains(" at line ") {
            true => message,
            false => format!("{message} at line 1 column 1"),
        }
    })?;
    shape.unwrap_or_default().validate().map(drop)
}
