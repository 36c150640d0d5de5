//! OpenTelemetry tracing of the engine, exported by OTLP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwapOption;
use http::uri::Authority;
use http::{HeaderMap, Method, Version};

#[cfg(feature = "telemetry")]
mod attributes;
#[cfg(feature = "telemetry")]
mod client_span;
#[cfg(feature = "telemetry")]
mod collector;
#[cfg(feature = "telemetry")]
mod exporter;
#[cfg(feature = "telemetry")]
mod grpc;
#[cfg(not(feature = "telemetry"))]
mod no_telemetry;
#[cfg(feature = "telemetry")]
mod request_span;
mod settings;

#[cfg(feature = "telemetry")]
pub use client_span::ClientSpan;
#[cfg(feature = "telemetry")]
pub use exporter::Telemetry;
#[cfg(not(feature = "telemetry"))]
pub use no_telemetry::{ClientSpan, RequestSpan, Telemetry};
#[cfg(feature = "telemetry")]
pub use request_span::RequestSpan;
pub use settings::{Encryption, Settings, Transport};

/// Current telemetry of an engine, if enabled. Clones share the same telemetry.
#[derive(Debug, Clone, Default)]
pub struct Current(Arc<ArcSwapOption<Telemetry>>);

impl Current {
    /// Replaces the current telemetry.
    pub fn set(&self, telemetry: Option<Arc<Telemetry>>) {
        self.0.store(telemetry);
    }

    /// Current telemetry, if enabled.
    pub fn get(&self) -> Option<Arc<Telemetry>> {
        self.0.load_full()
    }

    /// Whether a request at this decoded path has a span.
    pub fn covers(&self, path: impl FnOnce() -> String) -> bool {
        let telemetry = self.0.load();
        let Some(telemetry) = &*telemetry else {
            return false;
        };
        let excluded = telemetry.excluded();
        excluded.is_empty() || {
            let path = path();
            !excluded.iter().any(|glob| glob.is_match(&path))
        }
    }
}

/// Properties of a request that its span records.
#[derive(Debug)]
pub struct SpanAttributes<'r> {
    /// Method of the request.
    pub method: &'r Method,
    /// Decoded path.
    pub path: String,
    /// Route pattern, with names in place of the variable segments.
    pub route: String,
    /// Headers of the request.
    pub headers: &'r HeaderMap,
    /// Requested host, if it is not in the headers.
    pub authority: Option<&'r Authority>,
    /// HTTP version of the request.
    pub version: Version,
    /// Whether the request arrived over TLS.
    pub secure: bool,
    /// Address of the client, or a name for a client without an address.
    pub client: Option<Result<SocketAddr, String>>,
    /// Length of the request body in bytes.
    pub length: usize,
    /// When the head of the request was received.
    pub started: Instant,
}
