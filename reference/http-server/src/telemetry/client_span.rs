//! Spans of requests to other servers.

use http::{HeaderMap, Method, StatusCode, Version};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HeaderInjector;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use reqwest::Url;

use super::{Telemetry, attributes};

/// Span of an outgoing request, which ends when it is dropped.
#[derive(Debug)]
pub struct ClientSpan(Context);

impl Telemetry {
    /// Begins a span without a parent for an outgoing request, and adds it to the headers.
    pub fn client(&self, method: &Method, url: &Url, headers: &mut HeaderMap) -> ClientSpan {
        ClientSpan::begin(self, &Context::new(), method, url, headers)
    }
}

impl ClientSpan {
    pub(super) fn begin(
        telemetry: &Telemetry,
        parent: &Context,
        method: &Method,
        url: &Url,
        headers: &mut HeaderMap,
    ) -> Self {
        let secure = url.scheme() == "https";
        let mut all = attributes::method(method);
        all.push(attributes::text("url.full", &without_user(url)));
        let host = url.host_str().unwrap_or_default();
        all.extend(attributes::server(host, url.port(), secure));
        let builder = SpanBuilder::from_name(format!("HTTP {method}"))
            .with_kind(SpanKind::Client)
            .with_attributes(all);
        let span = telemetry.tracer.build_with_context(builder, parent);
        let context = parent.with_span(span);
        let propagator = TraceContextPropagator::new();
        propagator.inject_context(&context, &mut HeaderInjector(headers));
        // A trace without a state must not send one, whatever the headers contain.
        if context
            .span()
            .span_context()
            .trace_state()
            .header()
            .is_empty()
        {
            headers.remove("tracestate");
        }
        Self(context)
    }

    /// Records the head of the response.
    pub fn answered(&self, status: StatusCode, version: Version) {
        let span = self.0.span();
        span.set_attribute(attributes::status(status));
        span.set_attribute(attributes::version(version));
        if status.is_client_error() || status.is_server_error() {
            span.set_attribute(KeyValue::new("error.type", status.as_u16().to_string()));
            span.set_status(attributes::failed());
        }
    }

    /// Records that there was no response.
    pub fn failed(&self, reason: impl Into<String>) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("error.type", "_OTHER"));
        span.set_status(Status::error(reason.into()));
    }
}

/// URL without its user and password.
fn without_user(url: &Url) -> String {
    let mut url = url.clone();
    // Fails for a URL that cannot have them.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}
