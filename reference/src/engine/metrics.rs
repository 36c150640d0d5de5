//! What a request cost, measured when it asks for it.

use std::collections::BTreeMap;
use std::time::Instant;

use rego::Value;

use crate::http::Request;

/// The measurements of one request.
#[derive(Debug)]
pub(super) struct Metrics {
    begun: Instant,
    /// Whether the answer shows them.
    asked: bool,
    /// Whether they are taken.
    measured: bool,
    instrumented: bool,
    values: BTreeMap<&'static str, u64>,
}

impl Metrics {
    /// Starts measuring a decision as far as the request asks for it by `metrics` or
    /// `instrument`.
    pub(super) fn of_decision(request: &Request) -> Self {
        let instrumented = request.flag("instrument");
        let asked = instrumented || request.flag("metrics");
        Self {
            asked,
            measured: asked,
            instrumented,
            ..Self::of_write(request)
        }
    }

    /// Starts measuring a write if the request asks for it by `metrics`.
    pub(super) fn of_write(request: &Request) -> Self {
        let asked = request.flag("metrics");
        Self {
            begun: Instant::now(),
            asked,
            measured: asked,
            instrumented: false,
            values: BTreeMap::new(),
        }
    }

    /// Starts measuring a change of policies if the request asks for it by `metrics`.
    pub(super) fn of_policy(request: &Request) -> Self {
        Self::of_write(request)
    }

    /// Whether the request asks for measurements.
    pub(super) fn asked(&self) -> bool {
        self.asked
    }

    /// Measures from now on, also when the request does not ask for it.
    pub(super) fn measure(&mut self) {
        self.measured = true;
    }

    /// Does the work and keeps how long it took.
    pub(super) fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        if !self.measured {
            return work();
        }
        let begun = Instant::now();
        let done = work();
        self.values.insert(name, nanoseconds(begun));
        done
    }

    /// Does the work and keeps, for `instrument`, how long it took.
    pub(super) fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        match self.instrumented {
            true => self.time(name, work),
            false => work(),
        }
    }

    /// Keeps, for `instrument`, the time of a step under the name of its stages too.
    pub(super) fn also(&mut self, stage: &'static str, step: &str) {
        if let (true, Some(time)) = (self.instrumented, self.values.get(step)) {
            self.values.insert(stage, *time);
        }
    }

    /// Keeps a count.
    pub(super) fn count(&mut self, name: &'static str, count: u64) {
        if self.measured {
            self.values.insert(name, count);
        }
    }

    /// All measurements.
    pub(super) fn taken(self) -> Value {
        let values = self.values.into_iter();
        Value::object(values.map(|(name, value)| (name, Value::from(value))))
    }

    /// All measurements, with the time since the request was taken up.
    pub(super) fn finish(mut self) -> Value {
        let name = "timer_server_handler_ns";
        self.values.insert(name, nanoseconds(self.begun));
        self.taken()
    }
}

fn nanoseconds(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
