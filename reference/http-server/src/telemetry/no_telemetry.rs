//! Tracing in a build without the feature `telemetry`: it cannot be configured, so no spans exist.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, Version};
use rego::Glob;
use url::Url;

use super::{Settings, SpanAttributes};

/// Telemetry, which this build cannot have.
#[derive(Debug)]
pub struct Telemetry(Infallible);

/// Span of a request, which this build cannot have.
#[derive(Debug, Clone)]
pub struct RequestSpan(Infallible);

/// Span of an outgoing request, which this build cannot have.
#[derive(Debug)]
pub struct ClientSpan(Infallible);

impl Telemetry {
    /// Refuses settings of telemetry.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: &Settings) -> Result<Self, String> {
        Err("this build does not support tracing (feature `telemetry`)".to_owned())
    }

    pub(super) fn excluded(&self) -> &[Glob] {
        match self.0 {}
    }

    /// Whether this telemetry uses these settings.
    pub fn goes_by(&self, _: &Settings) -> bool {
        match self.0 {}
    }

    /// Exports the remaining spans.
    pub fn flush(&self, _: Duration) {
        match self.0 {}
    }

    /// Begins a span of an outgoing request.
    pub fn client(&self, _: &Method, _: &Url, _: &mut HeaderMap) -> ClientSpan {
        match self.0 {}
    }
}

impl RequestSpan {
    /// Begins the span of a request.
    pub fn begin(telemetry: Arc<Telemetry>, _: &SpanAttributes<'_>) -> Self {
        match telemetry.0 {}
    }

    /// Ids of the trace and of the span.
    pub fn ids(&self) -> (String, String) {
        match self.0 {}
    }

    /// Records the id of the decision.
    pub fn decided(&self, _: &str) {
        match self.0 {}
    }

    /// Ends the span.
    pub fn answered(&self, _: StatusCode, _: u64) {
        match self.0 {}
    }

    /// Begins the span of an outgoing request.
    pub fn client(&self, _: &Method, _: &Url, _: &mut HeaderMap) -> ClientSpan {
        match self.0 {}
    }
}

impl ClientSpan {
    /// Records the head of the response.
    pub fn answered(&self, _: StatusCode, _: Version) {
        match self.0 {}
    }

    /// Records that there was no response.
    pub fn failed(&self, _: impl Into<String>) {
        match self.0 {}
    }
}
