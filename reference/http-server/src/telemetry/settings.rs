//! Settings of tracing: collector and sampling.

use std::path::PathBuf;
use std::time::Duration;

use rego::Glob;

/// Protocol of a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// OTLP over gRPC.
    Grpc,
    /// OTLP over HTTP, in protobuf.
    Http,
}

/// Encryption of the connection to a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// No TLS.
    Off,
    /// TLS without a client certificate.
    Tls,
    /// TLS with a client certificate.
    MutualTls,
}

/// Settings of the export.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Protocol of the collector.
    pub transport: Transport,
    /// Collector, `HOST:PORT`.
    pub address: String,
    /// Encryption of the connection.
    pub encryption: Encryption,
    /// Whether any certificate of the collector is accepted.
    pub any_certificate: bool,
    /// File of the trusted certificate authorities; those of the system if absent.
    pub authorities: Option<PathBuf>,
    /// Files of the client certificate and of its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Sampling ratio, 0 to 1, of traces that start in this server.
    pub sampled: f64,
    /// Patterns of paths whose requests have no span.
    pub exclude: Vec<String>,
    /// Resource attributes of the exporter.
    pub resource: Vec<(&'static str, String)>,
    /// Maximum time that an ended span waits until its batch is exported.
    pub delay: Duration,
    /// Timeout of the export of a batch.
    pub export_timeout: Duration,
    /// Maximum number of spans in a batch.
    pub batch: usize,
    /// Maximum number of queued spans.
    pub queue: usize,
}

impl Settings {
    /// URL that spans are posted to.
    #[cfg(feature = "telemetry")]
    pub(super) fn endpoint(&self) -> String {
        let scheme = match self.encryption {
            Encryption::Off => "http",
            Encryption::Tls | Encryption::MutualTls => "https",
        };
        let path = match self.transport {
            Transport::Grpc => "opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Transport::Http => "v1/traces",
        };
        format!("{scheme}://{}/{path}", self.address)
    }

    /// Patterns of paths whose requests have no span. A single `*` does not match a slash.
    ///
    /// # Errors
    /// Names the first malformed pattern, and the cause.
    pub fn excluded(&self) -> Result<Vec<Glob>, String> {
        let globs = self.exclude.iter().map(|pattern| {
            Glob::new(pattern, "/")
                .map_err(|error| format!("`exclude_paths`: `{pattern}`: {error}"))
        });
        globs.collect()
    }
}
