//! The `Host` of policies: HTTP, name resolution, files and environment.

use std::net::IpAddr;
use std::sync::mpsc::channel;
use std::time::Duration;

use rego::host::{Cancellation, Host, HostError, HttpRequest, HttpResponse};
use rego::{AbortReason, Value};

use http_server::telemetry::RequestSpan;

mod block_on;
mod client;
mod connection;
#[cfg(test)]
mod tests;
mod tls;

/// Host environment of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct SystemHost {
    /// Result of `opa.runtime`.
    runtime: Option<Value>,
    /// Span of the served request, the parent of the spans of outgoing requests.
    span: Option<RequestSpan>,
}

impl SystemHost {
    /// Creates a host environment with this result of `opa.runtime`.
    pub(crate) fn telling(runtime: Value) -> Self {
        Self {
            runtime: Some(runtime),
            span: None,
        }
    }

    /// Returns the same environment for a request with this span.
    pub(crate) fn traced(&self, span: &RequestSpan) -> Self {
        Self {
            runtime: self.runtime.clone(),
            span: Some(span.clone()),
        }
    }
}

impl Host for SystemHost {
    fn send(
        &self,
        request: HttpRequest,
        check_cancelled: Cancellation<'_>,
    ) -> Result<HttpResponse, HostError> {
        client::send(request, self.span.as_ref(), check_cancelled)
    }

    fn addresses(
        &self,
        name: &str,
        check_cancelled: Cancellation<'_>,
    ) -> Result<Vec<IpAddr>, HostError> {
        // The resolver cannot be interrupted, so it runs in a thread that may be abandoned.
        let (found, finds) = channel();
        let name = name.to_owned();
        let resolver = std::thread::Builder::new().spawn(move || {
            found.send(connection::addresses(&name, 0)).ok();
        });
        resolver.map_err(|wrong| HostError::Broken(wrong.to_string()))?;
        let addresses = block_on::receive(&finds, check_cancelled)?.unwrap_or_default();
        Ok(addresses.iter().map(|address| address.ip()).collect())
    }

    fn file(&self, path: &str) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn runtime(&self) -> Option<Value> {
        self.runtime.clone()
    }

    fn pause(&self, time: Duration, check_cancelled: Cancellation<'_>) -> Result<(), AbortReason> {
        block_on::pause(time, check_cancelled)
    }
}
