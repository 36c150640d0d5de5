//! Sections `bundles` and `discovery`.

use std::path::PathBuf;

use serde::Deserialize;

use super::keys::Key;
use super::seconds::{Delay, Seconds, Trigger};
use super::services::Services;

/// Default minimum and maximum seconds between two downloads.
const DEFAULT_DELAY: [u64; 2] = [60, 120];

/// Default maximum bytes of a file in a bundle.
const DEFAULT_SIZE_LIMIT: u64 = 1 << 30;

/// Raw section of one bundle, or of the discovery bundle.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(expecting = "a bundle")]
pub(super) struct RawBundle {
    service: Option<String>,
    resource: Option<String>,
    #[serde(default)]
    polling: RawPolling,
    #[serde(default)]
    trigger: Trigger,
    #[serde(default)]
    persist: bool,
    signing: Option<RawSigning>,
    size_limit_bytes: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct RawPolling {
    min_delay_seconds: Option<Seconds>,
    max_delay_seconds: Option<Seconds>,
    long_polling_timeout_seconds: Option<Seconds>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct RawSigning {
    keyid: Option<String>,
    scope: Option<String>,
    #[serde(default)]
    exclude_files: Vec<String>,
}

/// Raw section `bundle`: the single bundle of configurations that predate `bundles`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(expecting = "a bundle")]
pub(super) struct RawOnlyBundle {
    name: String,
    prefix: Option<String>,
    service: Option<String>,
    #[serde(default)]
    polling: RawPolling,
}

impl RawOnlyBundle {
    /// Returns the name of the bundle, and the equivalent entry of `bundles`.
    pub(super) fn named(self) -> (String, RawBundle) {
        let resource = prefixed(self.prefix.as_deref(), &self.name);
        let bundle = RawBundle {
            resource: Some(resource),
            service: self.service,
            polling: self.polling,
            ..RawBundle::default()
        };
        (self.name, bundle)
    }
}

/// Raw section `discovery`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawDiscovery {
    name: Option<String>,
    prefix: Option<String>,
    decision: Option<String>,
    service: Option<String>,
    resource: Option<String>,
    #[serde(default)]
    polling: RawPolling,
    #[serde(default)]
    trigger: Trigger,
    #[serde(default)]
    persist: bool,
    signing: Option<RawSigning>,
    size_limit_bytes: Option<u64>,
}

/// Source of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// Location of the bundle.
    pub(crate) place: BundleLocation,
    /// Delay between two downloads.
    pub(crate) delay: Delay,
    /// Long polling: how long the service may delay the response until there is a new bundle.
    pub(crate) long_poll: Option<std::time::Duration>,
    /// Trigger of downloads.
    pub(crate) trigger: Trigger,
    /// Whether the bundle is persisted on disk.
    pub(crate) persist: bool,
    /// Required signature, if any.
    pub(crate) signing: Option<Signing>,
    /// Maximum bytes of a file in the bundle.
    pub(crate) size_limit: u64,
}

/// Location of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BundleLocation {
    /// Resource of a service.
    Service { service: String, resource: String },
    /// File or directory on this machine.
    File(PathBuf),
}

/// Required signature of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signing {
    /// Id of the verification key; if absent, the signature names the key.
    pub(crate) key: Option<String>,
    /// Scope that the signature must have; if absent, the scope of the key applies.
    pub(crate) scope: Option<String>,
    /// Patterns of files that the signature need not cover.
    pub(crate) exclude: Vec<String>,
}

/// Discovery of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Discovery {
    /// Source of the discovery bundle.
    pub(crate) source: Source,
    /// Path segments of the document that is the configuration.
    pub(crate) decision: Vec<String>,
}

/// Services and keys that a bundle's section may refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct BundleContext<'k> {
    pub(super) services: &'k Services,
    pub(super) keys: &'k std::collections::BTreeMap<String, Key>,
}

impl RawBundle {
    /// Validated source of the bundle with this name.
    pub(super) fn source(&self, name: &str, known: BundleContext<'_>) -> Result<Source, String> {
        let resource = match &self.resource {
            Some(resource) => resource.clone(),
            None => format!("bundles/{name}"),
        };
        let place = match file(&resource) {
            Some(path) => BundleLocation::File(path),
            None => BundleLocation::Service {
                service: known.service(self.service.as_deref(), true)?,
                resource,
            },
        };
        let polling = &self.polling;
        Ok(Source {
            place,
            delay: Delay::of(
                polling.min_delay_seconds,
                polling.max_delay_seconds,
                DEFAULT_DELAY,
            )?,
            long_poll: polling
                .long_polling_timeout_seconds
                .map(|Seconds(wait)| wait),
            trigger: self.trigger,
            persist: self.persist,
            signing: self
                .signing
                .as_ref()
                .map(|signing| known.signing(signing))
                .transpose()?,
            size_limit: match self.size_limit_bytes {
                Some(0) => return Err("`size_limit_bytes` must be greater than 0".to_owned()),
                limit => limit.unwrap_or(DEFAULT_SIZE_LIMIT),
            },
        })
    }
}

/// Resource path of a name below a prefix, by default `bundles`.
fn prefixed(prefix: Option<&str>, name: &str) -> String {
    let prefix = prefix.unwrap_or("bundles");
    format!("{}/{}", prefix.trim_matches('/'), name.trim_matches('/'))
}

impl RawDiscovery {
    /// Validated discovery settings.
    pub(super) fn discovery(&self, known: BundleContext<'_>) -> Result<Discovery, String> {
        let resource = match (&self.resource, &self.name) {
            (Some(resource), _) => resource.clone(),
            (None, Some(name)) => prefixed(self.prefix.as_deref(), name),
            (None, None) => return Err("`resource` is missing".to_owned()),
        };
        let decision = match (&self.decision, &self.resource) {
            (Some(decision), _) => Some(decision),
            (None, None) => self.name.as_ref(),
            (None, Some(_)) => None,
        };
        let bundle = RawBundle {
            service: match file(&resource) {
                Some(_) => None,
                None => Some(known.service(self.service.as_deref(), false)?),
            },
            resource: Some(resource),
            polling: self.polling.clone(),
            trigger: self.trigger,
            persist: self.persist,
            signing: self.signing.clone(),
            size_limit_bytes: self.size_limit_bytes,
        };
        let decision = decision.map(|path| path.replace('.', "/"));
        let path = decision.as_deref().unwrap_or_default();
        let path = path.trim_matches('/');
        let path = match path.split_once('/') {
            Some(("data", below)) => below,
            _ if path == "data" => "",
            _ => path,
        };
        Ok(Discovery {
            source: bundle.source("discovery", known)?,
            decision: path
                .split('/')
                .filter(|segment| !segment.is_empty())
                .map(str::to_owned)
                .collect(),
        })
    }
}

impl BundleContext<'_> {
    /// Returns the name of a configured service: `name` if given, or else the only service. If
    /// `choose` is set, the first of several services is used.
    pub(super) fn service(&self, name: Option<&str>, choose: bool) -> Result<String, String> {
        let mut services = self.services.iter();
        match name {
            Some(name) if self.services.get(name).is_some() => Ok(name.to_owned()),
            Some(name) => Err(format!("service `{name}` is not configured")),
            None if !choose && services.len() > 1 => {
                Err("`service` is missing, and more than one service is configured".to_owned())
            }
            None => match services.next() {
                Some(first) => Ok(first.name.clone()),
                None => Err("no service is configured".to_owned()),
            },
        }
    }

    fn signing(&self, shape: &RawSigning) -> Result<Signing, String> {
        let unknown = |key: &&String| !self.keys.contains_key(*key);
        if let Some(key) = shape.keyid.as_ref().filter(unknown) {
            return Err(format!("key `{key}` is not configured"));
        }
        Ok(Signing {
            key: shape.keyid.clone(),
            scope: shape.scope.clone(),
            exclude: shape.exclude_files.clone(),
        })
    }
}

/// Returns the path of a resource that is the URL of a file on this machine.
fn file(resource: &str) -> Option<PathBuf> {
    let url = reqwest::Url::parse(resource).ok()?;
    match url.scheme() {
        "file" => url.to_file_path().ok(),
        _ => None,
    }
}
