//! Metrics of single requests, and of all requests for Prometheus.

pub(super) mod get;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use prometheus_client::registry::Registry;
use rego::Value;

use http_server::Request;
use http_server::metrics::RequestDurations;
use http_server::process_metrics;

/// Metrics of all requests.
#[derive(Debug)]
pub(super) struct Totals {
    registry: Registry,
    requests: RequestDurations,
}

/// Name of the histogram of request durations.
const DURATIONS: &str = "http_request_duration_seconds";

impl Default for Totals {
    fn default() -> Self {
        let mut registry = Registry::default();
        process_metrics::register(&mut registry);
        let requests = RequestDurations::register(&mut registry, DURATIONS);
        Self { registry, requests }
    }
}

impl Totals {
    /// Creates metrics whose duration histogram has these upper bounds, in seconds.
    pub(super) fn with_buckets(buckets: &[f64]) -> Self {
        let mut registry = Registry::default();
        let requests = RequestDurations::register_with(&mut registry, DURATIONS, buckets);
        Self { registry, requests }
    }

    /// Records a request that the handler with this name answered.
    pub(super) fn observe(
        &self,
        handler: &'static str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        self.requests.observe(handler, method, status, took);
    }
}

/// Measurements of one request.
#[derive(Debug)]
pub(super) struct Metrics {
    started: Instant,
    /// Whether the response includes the measurements.
    requested: bool,
    /// Whether measurements are collected.
    measured: bool,
    instrumented: bool,
    values: BTreeMap<&'static str, u64>,
}

impl Metrics {
    /// Starts the measurements of a decision that the request asks for by `metrics` or
    /// `instrument`.
    pub(super) fn of_decision(request: &Request) -> Self {
        let instrumented = request.flag("instrument");
        let requested = instrumented || request.flag("metrics");
        Self {
            requested,
            measured: requested,
            instrumented,
            ..Self::of_write(request)
        }
    }

    /// Starts the measurements of a write if the request asks for them by `metrics`.
    pub(super) fn of_write(request: &Request) -> Self {
        let requested = request.flag("metrics");
        Self {
            started: Instant::now(),
            requested,
            measured: requested,
            instrumented: false,
            values: BTreeMap::new(),
        }
    }

    /// Starts the measurements of a policy change if the request asks for them by `metrics`.
    pub(super) fn of_policy(request: &Request) -> Self {
        Self::of_write(request)
    }

    /// Whether the response includes the measurements.
    pub(super) fn is_requested(&self) -> bool {
        self.requested
    }

    /// Enables measurements even when the request does not ask for them.
    pub(super) fn measure(&mut self) {
        self.measured = true;
    }

    /// Runs the work and records its duration.
    pub(super) fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        if !self.measured {
            return work();
        }
        let started = Instant::now();
        let done = work();
        self.values.insert(name, nanoseconds(started));
        done
    }

    /// Runs the work and, with `instrument`, records its duration.
    pub(super) fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        match self.instrumented {
            true => self.time(name, work),
            false => work(),
        }
    }

    /// With `instrument`, also records the measured duration of a step as that of a stage.
    pub(super) fn also(&mut self, stage: &'static str, step: &str) {
        if let (true, Some(time)) = (self.instrumented, self.values.get(step)) {
            self.values.insert(stage, *time);
        }
    }

    /// Records a count.
    pub(super) fn count(&mut self, name: &'static str, count: u64) {
        if self.measured {
            self.values.insert(name, count);
        }
    }

    /// Returns all measurements.
    pub(super) fn to_value(&self) -> Value {
        Value::object(
            self.values
                .iter()
                .map(|(name, value)| (*name, Value::from(*value))),
        )
    }

    /// Returns all measurements, including the time since the request was received.
    pub(super) fn finish(&mut self) -> Value {
        let name = "timer_server_handler_ns";
        self.values.insert(name, nanoseconds(self.started));
        self.to_value()
    }
}

fn nanoseconds(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::Engine;
    use http_server::Request;

    #[test]
    fn requests_are_counted_by_what_answers_them() -> Result<(), http::Error> {
        let engine = Engine::default();
        let get = |path: &str| {
            let request = http::Request::get(path).body(Bytes::new())?;
            Ok::<_, http::Error>(engine.respond(Request::from(request)))
        };
        for path in [
            "/v1/data",
            "/v1/data/a/b",
            "/health",
            "/",
            "/nowhere/secret",
        ] {
            get(path)?;
        }
        let text = get("/metrics")?;
        let text = text.body.bytes();
        let text = String::from_utf8_lossy(&text);
        for (labels, count) in [
            (r#"code="200",handler="v1/data",method="get""#, 2),
            (r#"code="200",handler="health",method="get""#, 1),
            (r#"code="200",handler="index",method="get""#, 1),
            (r#"code="404",handler="none",method="get""#, 1),
        ] {
            let line = format!("http_request_duration_seconds_count{{{labels}}} {count}\n");
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(!text.contains("secret"), "{text}");
        Ok(())
    }
}
