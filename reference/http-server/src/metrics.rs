//! HTTP metrics for Prometheus.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::error::{ApiError, Code};
use super::reply::Reply;

/// Default upper bounds of buckets in seconds, as in Open Policy Agent.
const BUCKETS: [f64; 10] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1, 1.0];

/// Media type of the metrics.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Number of shards of the histogram. Each thread updates one shard, so that threads do not
/// contend; a scrape adds the shards up.
const PARTS: usize = 64;

/// Number of threads that have a shard.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Index of this thread's shard.
    static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed) % PARTS;
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
struct Labels {
    code: u16,
    handler: &'static str,
    method: &'static str,
}

/// Durations of requests by handler, method and status.
#[derive(Debug, Clone)]
pub struct RequestDurations(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    /// Upper bounds of the buckets in seconds.
    bounds: Vec<f64>,
    parts: [Shard; PARTS],
}

/// Shard on separate cache lines, so that threads do not share them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<HashMap<Labels, Durations>>);

#[derive(Debug, Clone, Default)]
struct Durations {
    /// Sum of the durations in seconds.
    sum: f64,
    /// Number of durations in each bucket, and of those above all buckets.
    counts: Vec<u64>,
}

impl RequestDurations {
    /// Registers the histogram under a name.
    pub fn register(registry: &mut Registry, name: &str) -> Self {
        Self::register_with(registry, name, &BUCKETS)
    }

    /// Registers the histogram under a name, with these upper bounds in seconds.
    pub fn register_with(registry: &mut Registry, name: &str, buckets: &[f64]) -> Self {
        let durations = Self(Arc::new(Counted {
            bounds: buckets.to_vec(),
            parts: std::array::from_fn(|_| Shard::default()),
        }));
        registry.register(name, "Duration of requests in seconds", durations.clone());
        durations
    }

    /// Records a request. The handler is one of a few names, never derived from the request.
    pub fn observe(
        &self,
        handler: &'static str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let labels = Labels {
            code: status.as_u16(),
            handler,
            method: method_name(method),
        };
        let Counted { bounds, parts } = &*self.0;
        let Some(Shard(part)) = parts.get(OWN.with(|own| *own)) else {
            return;
        };
        let seconds = took.as_secs_f64();
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        let durations = part.entry(labels).or_default();
        durations.sum += seconds;
        durations.counts.resize(bounds.len() + 1, 0);
        let bucket = bounds.iter().position(|bound| seconds <= *bound);
        let bucket = durations.counts.get_mut(bucket.unwrap_or(bounds.len()));
        bucket.into_iter().for_each(|count| *count += 1);
    }

    /// Sum of all shards.
    fn all(&self) -> BTreeMap<Labels, Durations> {
        let mut all: BTreeMap<Labels, Durations> = BTreeMap::new();
        for Shard(part) in &self.0.parts {
            let part = part.lock().unwrap_or_else(PoisonError::into_inner);
            for (labels, durations) in part.iter() {
                let total = all.entry(labels.clone()).or_default();
                total.sum += durations.sum;
                total.counts.resize(durations.counts.len(), 0);
                let counts = total.counts.iter_mut().zip(&durations.counts);
                counts.for_each(|(total, count)| *total += count);
            }
        }
        all
    }
}

impl EncodeMetric for RequestDurations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        for (labels, Durations { sum, counts }) in self.all() {
            let bounds = self.0.bounds.iter().copied().chain([f64::INFINITY]);
            let buckets: Vec<_> = bounds.zip(counts.iter().copied()).collect();
            let mut encoder = encoder.encode_family(&labels)?;
            encoder.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Name of a method in lower case; unknown methods share one name.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::HEAD => "head",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::OPTIONS => "options",
        _ => "other",
    }
}

/// 200 with the contents of all registries.
pub fn render<'r>(registries: impl IntoIterator<Item = &'r Registry>) -> Result<Reply, ApiError> {
    let mut text = String::new();
    let mut registries = registries.into_iter();
    let written = registries.try_for_each(|registry| encode_registry(&mut text, registry));
    match written.and_then(|()| encode_eof(&mut text)) {
        Ok(()) => Ok(Reply::text(StatusCode::OK, text).with_type(MEDIA_TYPE)),
        Err(_) => Err(ApiError::new(
            Code::InternalError,
            "the metrics cannot be written",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_is_added_up() {
        let mut registry = Registry::default();
        let durations = RequestDurations::register_with(&mut registry, "took", &[0.5, 2.0]);
        // Some threads share a shard.
        let threads = PARTS + 10;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for seconds in [0.25, 0.5, 1.0, 64.0] {
                        let took = Duration::from_secs_f64(seconds);
                        durations.observe("v1/data", &Method::GET, StatusCode::OK, took);
                    }
                });
            }
        });
        let labels = r#"code="200",handler="v1/data",method="get""#;
        let mut expected = vec![
            format!("took_sum{{{labels}}} {:?}", 65.75 * threads as f64),
            format!("took_count{{{labels}}} {}", 4 * threads),
        ];
        for (bound, count) in [("0.5", 2), ("2.0", 3), ("+Inf", 4)] {
            let count = count * threads;
            expected.push(format!("took_bucket{{le=\"{bound}\",{labels}}} {count}"));
        }
        let Counted { parts, .. } = &*durations.0;
        let used = parts
            .iter()
            .filter(|Shard(part)| part.lock().is_ok_and(|part| !part.is_empty()));
        assert!(used.count() > PARTS / 2, "threads count apart");
        let mut text = String::new();
        assert!(encode_registry(&mut text, &registry).is_ok());
        let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(samples, expected);
    }
}
