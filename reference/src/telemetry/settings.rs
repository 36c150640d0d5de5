//! Settings of tracing: collector and sampling.

use std::path::PathBuf;
use std::time::Duration;

use rego::Glob;

/// How a collector is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// OTLP over gRPC.
    Grpc,
    /// OTLP over HTTP, in protobuf.
    Http,
}

/// What protects the connection to a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    Off,
    Tls,
    /// TLS with a certificate of ours.
    MutualTls,
}

/// Where spans are sent, and which.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) transport: Transport,
    /// The collector, `HOST:PORT`.
    pub(crate) address: String,
    pub(crate) encryption: Encryption,
    /// Whether any certificate of the collector is taken.
    pub(crate) any_certificate: bool,
    /// The authorities whose certificates are taken; those of the system if absent.
    pub(crate) authorities: Option<PathBuf>,
    /// Our certificate and its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
    /// The share of the traces that begin here which are sent, 0 to 1.
    pub(crate) sampled: f64,
    /// Patterns of paths whose requests have no span.
    pub(crate) exclude: Vec<String>,
    /// Who sends the spans: attributes and their values.
    pub(crate) resource: Vec<(&'static str, String)>,
    /// How long spans wait for others at most.
    pub(crate) delay: Duration,
    /// How long sending may take.
    pub(crate) export_timeout: Duration,
    /// The most spans that are sent together.
    pub(crate) batch: usize,
    /// The most spans that wait.
    pub(crate) queue: usize,
}

impl Settings {
    /// The address that spans are posted to.
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

    /// The patterns of paths whose requests have no span. A single star stays within a segment.
    ///
    /// # Errors
    /// With the first that is no pattern, and why.
    pub(crate) fn excluded(&self) -> Result<Vec<Glob>, String> {
        let globs = self.exclude.iter().map(|pattern| {
            Glob::new(pattern, "/").map_err(|why| format!("`exclude_paths`: `{pattern}`: {why}"))
        });
        globs.collect()
    }
}
