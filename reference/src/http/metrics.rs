//! Measurements for Prometheus: how long requests take, and the text that shows them.

use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::error::{ApiError, Code};
use super::reply::Reply;

/// Upper bounds in seconds, those of Open Policy Agent.
const BUCKETS: [f64; 10] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1, 1.0];

/// The media type of the text.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    code: u16,
    handler: &'static str,
    method: &'static str,
}

/// How long requests took, by what answered them.
#[derive(Debug, Clone)]
pub(crate) struct RequestDurations(Family<Labels, Histogram, Buckets>);

/// Makes histograms with these upper bounds.
#[derive(Debug, Clone)]
struct Buckets(Vec<f64>);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

impl RequestDurations {
    /// Durations that a registry shows under a name.
    pub(crate) fn register(registry: &mut Registry, name: &str) -> Self {
        Self::register_with(registry, name, &BUCKETS)
    }

    /// The same with these upper bounds, in seconds.
    pub(crate) fn register_with(registry: &mut Registry, name: &str, buckets: &[f64]) -> Self {
        let family = Family::new_with_constructor(Buckets(buckets.to_vec()));
        let help = "Duration of requests in seconds";
        registry.register(name, help, family.clone());
        Self(family)
    }

    /// Takes up a request. The handler is one of few names, never a part of the request.
    pub(crate) fn observe(
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
        let histogram = self.0.get_or_create(&labels);
        histogram.observe(took.as_secs_f64());
    }
}

/// The method in lower case; methods that no endpoint knows have one name.
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

/// 200 with everything that registries hold.
pub(crate) fn render<'r>(
    registries: impl IntoIterator<Item = &'r Registry>,
) -> Result<Reply, ApiError> {
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
