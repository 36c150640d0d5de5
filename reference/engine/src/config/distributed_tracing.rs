//! Section `distributed_tracing`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::uri::Authority;
use serde::Deserialize;
use tracing::warn;

use http_server::telemetry::{Encryption, Settings, Transport};

/// Default addresses of collectors.
const DEFAULT_GRPC_ADDRESS: &str = "localhost:4317";
const DEFAULT_HTTP_ADDRESS: &str = "localhost:4318";

/// Maximum number of queued spans, each of which usually takes a kilobyte or two.
const MOST_WAITING: i64 = 100_000;

/// Maximum milliseconds of a configured time: one day.
const MOST_MILLISECONDS: i64 = 24 * 3600 * 1000;

/// Raw section `distributed_tracing`.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawDistributedTracing {
    #[serde(rename = "type")]
    kind: Option<Kind>,
    address: Option<String>,
    service_name: Option<String>,
    sample_percentage: Option<f64>,
    encryption: Option<RawEncryption>,
    allow_insecure_tls: Option<bool>,
    tls_ca_cert_file: Option<PathBuf>,
    tls_cert_file: Option<PathBuf>,
    tls_private_key_file: Option<PathBuf>,
    exclude_paths: Option<Vec<String>>,
    resource: Option<RawResource>,
    batch_span_processor_options: Option<RawBatch>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Grpc,
    Http,
    #[serde(rename = "")]
    Off,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawEncryption {
    #[default]
    #[serde(alias = "")]
    Off,
    Tls,
    Mtls,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(expecting = "an object")]
struct RawResource {
    service_version: Option<String>,
    service_instance_id: Option<String>,
    service_namespace: Option<String>,
    deployment_environment: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(expecting = "an object")]
struct RawBatch {
    blocking: Option<bool>,
    batch_timeout_ms: Option<i64>,
    export_timeout_ms: Option<i64>,
    max_export_batch_size: Option<i64>,
    max_queue_size: Option<i64>,
}

impl RawDistributedTracing {
    /// Validated settings of the exporter, if tracing is enabled.
    pub(super) fn settings(&self) -> Result<Option<Settings>, String> {
        let sampled = self.sample_percentage.unwrap_or(100.0);
        if !(0.0..=100.0).contains(&sampled) {
            return Err("`sample_percentage` must be 0 to 100".to_owned());
        }
        let batch = self.batch_span_processor_options.clone();
        let batch = batch.unwrap_or_default();
        if batch.blocking == Some(true) {
            warn!("`blocking` has no effect: no request waits for a collector");
        }
        let (transport, default_address) = match self.kind {
            Some(Kind::Grpc) => (Transport::Grpc, DEFAULT_GRPC_ADDRESS),
            Some(Kind::Http) | Some(Kind::Off) | None => (Transport::Http, DEFAULT_HTTP_ADDRESS),
        };
        let encryption = match self.encryption.unwrap_or_default() {
            RawEncryption::Off => Encryption::Off,
            RawEncryption::Tls => Encryption::Tls,
            RawEncryption::Mtls => Encryption::MutualTls,
        };
        let settings = Settings {
            transport,
            address: address(self.address.as_deref(), default_address)?,
            encryption,
            any_certificate: self.allow_insecure_tls.unwrap_or_default(),
            authorities: self.tls_ca_cert_file.clone().filter(|file| is_named(file)),
            identity: self.identity(encryption)?,
            sampled: sampled / 100.0,
            exclude: self.exclude_paths.clone().unwrap_or_default(),
            resource: self.resource(),
            delay: milliseconds("batch_timeout_ms", batch.batch_timeout_ms, 5_000)?,
            export_timeout: milliseconds("export_timeout_ms", batch.export_timeout_ms, 30_000)?,
            batch: count("max_export_batch_size", batch.max_export_batch_size, 512)?,
            queue: count("max_queue_size", batch.max_queue_size, 2_048)?,
        };
        settings.excluded()?;
        Ok(match self.kind {
            None | Some(Kind::Off) => None,
            Some(Kind::Grpc | Kind::Http) => Some(settings),
        })
    }

    fn identity(&self, encryption: Encryption) -> Result<Option<(PathBuf, PathBuf)>, String> {
        let certificate = self.tls_cert_file.clone().filter(|file| is_named(file));
        let key = self
            .tls_private_key_file
            .clone()
            .filter(|file| is_named(file));
        match (certificate, key) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) if encryption == Encryption::MutualTls => {
                Err("`encryption: mtls` needs `tls_cert_file`".to_owned())
            }
            (None, None) => Ok(None),
            _ => Err("`tls_cert_file` and `tls_private_key_file` must be set together".to_owned()),
        }
    }

    fn resource(&self) -> Vec<(&'static str, String)> {
        let resource = self.resource.clone().unwrap_or_default();
        let name = self.service_name.clone().filter(|name| !name.is_empty());
        let attributes = [
            (
                "service.name",
                Some(name.unwrap_or_else(|| "opa".to_owned())),
            ),
            ("service.version", resource.service_version),
            ("service.instance.id", resource.service_instance_id),
            ("service.namespace", resource.service_namespace),
            ("deployment.environment", resource.deployment_environment),
        ];
        let attributes = attributes.into_iter();
        let resource = attributes.filter_map(|(name, value)| {
            let value = value.filter(|value| !value.is_empty())?;
            Some((name, value))
        });
        resource.collect()
    }
}

/// Whether a file is configured: an empty name means none, as in Open Policy Agent.
fn is_named(file: &Path) -> bool {
    !file.as_os_str().is_empty()
}

/// Address of a collector: host and port.
fn address(configured: Option<&str>, default: &str) -> Result<String, String> {
    let address = configured
        .filter(|configured| !configured.is_empty())
        .unwrap_or(default);
    let parsed = address.parse::<Authority>();
    match parsed {
        Ok(parsed) if !parsed.host().is_empty() && !address.contains('@') => Ok(address.to_owned()),
        _ => Err("`address` must be a host and a port, without a scheme".to_owned()),
    }
}

fn milliseconds(name: &str, value: Option<i64>, default: u64) -> Result<Duration, String> {
    let Some(value) = value else {
        return Ok(Duration::from_millis(default));
    };
    match u64::try_from(value) {
        Ok(time) if (1..=MOST_MILLISECONDS).contains(&value) => Ok(Duration::from_millis(time)),
        _ => Err(format!("`{name}` must be 1 to {MOST_MILLISECONDS}")),
    }
}

fn count(name: &str, value: Option<i64>, default: usize) -> Result<usize, String> {
    let Some(value) = value else {
        return Ok(default);
    };
    match usize::try_from(value) {
        Ok(count) if (1..=MOST_WAITING).contains(&value) => Ok(count),
        _ => Err(format!("`{name}` must be 1 to {MOST_WAITING}")),
    }
}
