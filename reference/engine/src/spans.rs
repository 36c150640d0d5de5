//! Tracing spans of handlers.

use super::Engine;
use super::routes::Destination;
use http_server::Peer;
use http_server::Request;
use http_server::telemetry::{RequestSpan, SpanAttributes};

impl Engine {
    /// Begins the span of a request, if its destination is traced and the span has not begun yet.
    pub(super) fn begin_span(&self, destination: &Destination, request: &mut Request) {
        let telemetry = &self.plugins().telemetry;
        let path = || request.path.decoded();
        if request.span.is_some() || !telemetry.covers(path) {
            return;
        }
        let (Some(telemetry), Some(route)) = (telemetry.get(), destination.traced_as(request))
        else {
            return;
        };
        let arriving = SpanAttributes {
            method: &request.method,
            path: path(),
            route,
            headers: &request.headers,
            authority: request.arrival.authority.as_ref(),
            version: request.arrival.version,
            secure: request.arrival.secure,
            client: request.client.map(|client| match client {
                Peer::Tcp(address) => Ok(address),
                Peer::Unix => Err(client.to_string()),
            }),
            length: request.body.len(),
            started: request.arrival.started,
        };
        request.span = Some(RequestSpan::begin(telemetry, &arriving));
    }
}
