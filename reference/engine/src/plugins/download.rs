//! Bundle downloads from services and disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use globset::GlobSet;
use http::header::{CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use rego::Version;

use super::registry;
use super::service::{Client, ServiceError, ServiceResponse};
use super::status_registry::{BundleStatus, Failure};
use crate::config::{BundleLocation, Plugins, Source};
use bundle::{Bundle, BundleError, Key, Limits, Verification};

/// Request header with the kinds of bundles that the engine accepts.
const PREFER: HeaderName = HeaderName::from_static("prefer");
const MODES: &str = "modes=snapshot,delta";

/// Content type by which a service signals that it supports long polling.
const HOLDS_BACK: &[u8] = b"application/vnd.openpolicyagent.bundles";

/// Maximum bytes of an ETag that is sent back; with a longer one, every poll downloads the bundle.
const MAX_ETAG: usize = 1024;

/// Maximum bytes of an archive.
const MAX_ARCHIVE: usize = 1 << 30;

/// Error code of bundles in reports.
pub(super) const BUNDLE_ERROR: &str = "bundle_error";

/// Settings for reading the bundles of one source.
#[derive(Debug)]
pub(super) struct Reading {
    name: String,
    version: Version,
    limits: Limits,
    verification: Option<Verification>,
}

impl Reading {
    /// Settings for the bundles of a source. Their policies are of `version` unless a manifest
    /// specifies another.
    pub(super) fn new(name: &str, version: Version, source: &Source, plugins: &Plugins) -> Self {
        let verification = source.signing.as_ref().map(|signing| Verification {
            keys: plugins
                .keys
                .iter()
                .filter_map(|(name, key)| {
                    let verifies = Key {
                        key: key.key.as_ref()?.0.clone().into(),
                        algorithm: key.algorithm().to_owned(),
                        scope: key.scope.clone().unwrap_or_default(),
                    };
                    Some((name.clone(), verifies))
                })
                .collect(),
            key_id: signing.key.clone(),
            scope: signing.scope.clone().unwrap_or_default(),
            exclude_files: signing.exclude.clone(),
            skip: false,
        });
        Self {
            name: name.to_owned(),
            version,
            limits: Limits::of_file(source.size_limit),
            verification,
        }
    }

    /// Reads an archive.
    pub(super) fn read(&self, archive: &[u8]) -> Result<Bundle, BundleError> {
        Bundle::read(
            archive,
            &self.name,
            self.version,
            &self.limits,
            self.verification.as_ref(),
        )
    }

    fn open(&self, path: &std::path::Path) -> Result<Bundle, BundleError> {
        let all = GlobSet::empty();
        Bundle::open(
            path,
            &self.name,
            self.version,
            &self.limits,
            self.verification.as_ref(),
            &all,
        )
    }
}

/// A downloaded bundle.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) bundle: Bundle,
    /// Archive; empty if the bundle was read from disk.
    pub(super) archive: Bytes,
}

/// Downloads the bundles of one source.
#[derive(Debug)]
pub(super) struct Downloader {
    from: From,
    reading: Arc<Reading>,
    /// ETag of the active bundle.
    etag: Option<HeaderValue>,
    /// Whether the service has signalled that it supports long polling.
    holds_back: bool,
}

#[derive(Debug)]
enum From {
    Service {
        client: Arc<Client>,
        resource: String,
        long_poll: Option<Duration>,
    },
    /// Image of a registry.
    Registry {
        client: Arc<Client>,
        image: String,
    },
    File(PathBuf),
}

impl Downloader {
    /// Creates a downloader for a source; `client` is the client of its service.
    pub(super) fn new(
        source: &Source,
        client: Option<Arc<Client>>,
        reading: Reading,
    ) -> Option<Self> {
        let from = match &source.place {
            BundleLocation::File(path) => From::File(path.clone()),
            BundleLocation::Service { resource, .. } => {
                let client = client?;
                match client.is_registry() {
                    true => From::Registry {
                        client,
                        image: resource.clone(),
                    },
                    false => From::Service {
                        client,
                        resource: resource.clone(),
                        long_poll: source.long_poll,
                    },
                }
            }
        };
        Some(Self {
            from,
            reading: Arc::new(reading),
            etag: None,
            holds_back: false,
        })
    }

    /// Whether no further downloads follow once the bundle is read.
    pub(super) fn ends(&self) -> bool {
        matches!(self.from, From::File(_))
    }

    /// Whether the next request may follow soon, because the service delays its response.
    pub(super) fn holds_back(&self) -> bool {
        self.holds_back
    }

    /// Sets the ETag of the active bundle. One longer than `MAX_ETAG` is not sent back, because
    /// servers refuse long requests.
    pub(super) fn uses(&mut self, etag: &str) {
        let etag = Some(etag).filter(|etag| (1..=MAX_ETAG).contains(&etag.len()));
        self.etag = etag.and_then(|etag| HeaderValue::from_str(etag).ok());
    }

    /// Settings for reading the downloaded bundles.
    pub(super) fn reading(&self) -> Arc<Reading> {
        Arc::clone(&self.reading)
    }

    /// Downloads the bundle, unless it is unchanged, and records the outcome of the request in
    /// `status`.
    ///
    /// # Errors
    /// When the bundle cannot be downloaded or read.
    pub(super) async fn fetch(
        &mut self,
        status: &mut BundleStatus,
    ) -> Result<Option<Download>, Failure> {
        let started = std::time::Instant::now();
        let requested_at = std::time::SystemTime::now();
        status.requested = Some(requested_at);
        status.times.clear();
        let response = self.request().await;
        status
            .times
            .insert("timer_bundle_request_ns", nanoseconds(started));
        let archive = response.map_err(|error| Failure {
            code: BUNDLE_ERROR,
            message: error.to_string(),
            errors: Vec::new(),
            http_code: error.status().map(|status| status.as_u16()),
        })?;
        status.answered = Some(requested_at);
        let Some((archive, etag)) = archive else {
            return Ok(None);
        };
        let (reading, from) = (self.reading(), archive.clone());
        let file = match &self.from {
            From::File(path) => Some(path.clone()),
            From::Service { .. } | From::Registry { .. } => None,
        };
        let started = std::time::Instant::now();
        let read = tokio::task::spawn_blocking(move || match file {
            Some(path) => reading.open(&path),
            None => reading.read(&from),
        });
        let read = read
            .await
            .map_err(|error| BundleError::new(error.to_string()));
        let mut bundle = read
            .and_then(|read| read)
            .map_err(|error| failure(&error))?;
        status
            .times
            .insert("timer_rego_load_bundles_ns", nanoseconds(started));
        bundle.etag = etag;
        status.downloaded = Some(requested_at);
        status.kind = Some(bundle.kind());
        status.size = Some(archive.len()).filter(|size| *size > 0);
        Ok(Some(Download { bundle, archive }))
    }

    /// Requests the archive and its ETag, unless the archive is unchanged.
    async fn request(&mut self) -> Result<Option<(Bytes, String)>, ServiceError> {
        let (client, resource, long_poll) = match &self.from {
            From::File(_) => return Ok(Some((Bytes::new(), String::new()))),
            From::Registry { client, image } => {
                let used = self.etag.as_ref().and_then(|etag| etag.to_str().ok());
                return registry::pull(client, image, used, MAX_ARCHIVE).await;
            }
            From::Service {
                client,
                resource,
                long_poll,
            } => (client, resource, long_poll),
        };
        let wait = long_poll.unwrap_or_default();
        let prefer = match long_poll {
            Some(wait) => format!("{MODES};wait={}", wait.as_secs()),
            None => MODES.to_owned(),
        };
        let mut headers = HeaderMap::new();
        if let Ok(prefer) = HeaderValue::from_str(&prefer) {
            headers.insert(PREFER, prefer);
        }
        if let Some(etag) = &self.etag {
            headers.insert(IF_NONE_MATCH, etag.clone());
        }
        let answer = client.get(resource, &headers, wait, MAX_ARCHIVE).await?;
        let held_back = long_poll.is_some() && holds_back(&answer);
        match answer.status {
            StatusCode::OK => {
                self.holds_back = held_back;
                let etag = answer.headers.get(ETAG).and_then(|etag| etag.to_str().ok());
                let etag = etag.unwrap_or_default().to_owned();
                Ok(Some((answer.body, etag)))
            }
            StatusCode::NOT_MODIFIED => {
                self.holds_back = held_back;
                Ok(None)
            }
            status => {
                // The ETag may be why the server rejects the request.
                if status.is_client_error() {
                    self.etag = None;
                }
                Err(ServiceError::Status(status))
            }
        }
    }
}

fn holds_back(answer: &ServiceResponse) -> bool {
    let kind = answer.headers.get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().eq_ignore_ascii_case(HOLDS_BACK))
}

/// Converts a bundle error for reports.
pub(super) fn failure(error: &BundleError) -> Failure {
    Failure {
        code: error.code(),
        message: error.to_string(),
        errors: error.errors(),
        http_code: None,
    }
}

pub(super) fn nanoseconds(started: std::time::Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
