//! Spans of served requests.

use std::sync::Arc;
use std::time::SystemTime;

use http::header::USER_AGENT;
use http::uri::Authority;
use http::{HeaderMap, Method, StatusCode};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanBuilder, SpanKind, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;

use super::{ClientSpan, SpanAttributes, Telemetry, attributes};

/// Span of a request. It ends when the request is answered, or when it is dropped. Clones share the
/// span.
#[derive(Debug, Clone)]
pub struct RequestSpan {
    telemetry: Arc<Telemetry>,
    context: Context,
}

impl RequestSpan {
    /// Begins the span of a request, as part of the trace in its headers.
    pub fn begin(telemetry: Arc<Telemetry>, request: &SpanAttributes<'_>) -> Self {
        let headers = HeaderExtractor(request.headers);
        let propagator = TraceContextPropagator::new();
        let parent = propagator.extract_with_context(&Context::new(), &headers);
        let method = match attributes::is_known(request.method) {
            true => request.method.as_str(),
            false => "HTTP",
        };
        let started = SystemTime::now().checked_sub(request.started.elapsed());
        let builder = SpanBuilder::from_name(format!("{method} {}", request.route))
            .with_kind(SpanKind::Server)
            .with_start_time(started.unwrap_or_else(SystemTime::now))
            .with_attributes(request.attributes());
        let span = telemetry.tracer.build_with_context(builder, &parent);
        Self {
            context: parent.with_span(span),
            telemetry,
        }
    }

    /// Ids of the trace and of the span, in hexadecimal.
    pub fn ids(&self) -> (String, String) {
        let span = self.context.span();
        let context = span.span_context();
        (
            context.trace_id().to_string(),
            context.span_id().to_string(),
        )
    }

    /// Records the id of the decision of the request.
    pub fn decided(&self, id: &str) {
        let id = KeyValue::new("opa.decision_id", id.to_owned());
        self.context.span().set_attribute(id);
    }

    /// Ends the span; the response to the request had this status and `sent` bytes.
    pub fn answered(&self, status: StatusCode, sent: u64) {
        let span = self.context.span();
        span.set_attribute(attributes::status(status));
        if let Some(sent) = i64::try_from(sent).ok().filter(|sent| *sent > 0) {
            span.set_attribute(KeyValue::new("http.response.body.size", sent));
        }
        if status.is_server_error() {
            span.set_status(attributes::failed());
        }
        span.end();
    }

    /// Begins the span of an outgoing request as a child of this span.
    pub fn client(
        &self,
        method: &Method,
        url: &reqwest::Url,
        headers: &mut HeaderMap,
    ) -> ClientSpan {
        ClientSpan::begin(&self.telemetry, &self.context, method, url, headers)
    }
}

impl SpanAttributes<'_> {
    fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn attributes(&self) -> Vec<KeyValue> {
        let mut all = attributes::method(self.method);
        let host = self.header(http::header::HOST);
        let host = host.and_then(|host| host.parse::<Authority>().ok());
        if let Some(authority) = host.as_ref().or(self.authority) {
            let port = authority.port_u16();
            all.extend(attributes::server(authority.host(), port, self.secure));
        }
        let scheme = if self.secure { "https" } else { "http" };
        all.push(KeyValue::new("url.scheme", scheme));
        all.push(attributes::text("url.path", &self.path));
        all.push(KeyValue::new("http.route", self.route.clone()));
        all.push(attributes::version(self.version));
        let peer = self.client.as_ref().map(|client| match client {
            Ok(address) => (address.ip().to_string(), Some(address.port())),
            Err(name) => (name.clone(), None),
        });
        if let Some((address, port)) = &peer {
            all.push(KeyValue::new("network.peer.address", address.clone()));
            let port = port.map(|port| KeyValue::new("network.peer.port", i64::from(port)));
            all.extend(port);
        }
        let forwarded = self.header("x-forwarded-for").unwrap_or_default();
        let first = forwarded
            .split(',')
            .next()
            .filter(|first| !first.is_empty());
        let client = first
            .map(str::to_owned)
            .or(peer.map(|(address, _)| address));
        all.extend(client.map(|client| attributes::text("client.address", &client)));
        let agent = self.header(USER_AGENT).filter(|agent| !agent.is_empty());
        all.extend(agent.map(|agent| attributes::text("user_agent.original", agent)));
        if let Some(length) = i64::try_from(self.length).ok().filter(|length| *length > 0) {
            all.push(KeyValue::new("http.request.body.size", length));
        }
        all
    }
}
