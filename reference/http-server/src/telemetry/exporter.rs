//! Export of spans to a collector, by OTLP.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::resource::{EnvResourceDetector, Resource};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};
use rego::Glob;
use tracing::warn;

use super::Settings;
use super::collector::Collector;

/// Timeout of sending the remaining spans when the telemetry is dropped without waiting.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Creates spans, and exports them when they have ended. Spans that cannot be exported as fast as
/// they end are dropped, so that nothing waits for a collector.
#[derive(Debug)]
pub struct Telemetry {
    settings: Settings,
    provider: SdkTracerProvider,
    pub(super) tracer: SdkTracer,
    excluded: Vec<Glob>,
}

impl Telemetry {
    /// Creates telemetry that exports spans on the current runtime, within which it must be called.
    ///
    /// # Errors
    /// When a file in the settings cannot be used.
    pub fn new(settings: &Settings) -> Result<Self, String> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(settings.endpoint())
            .with_timeout(settings.export_timeout)
            .with_http_client(Collector::new(settings)?)
            .build()
            .map_err(|error| error.to_string())?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(settings.queue)
            .with_max_export_batch_size(settings.batch)
            .with_scheduled_delay(settings.delay)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches);
        let share = Sampler::TraceIdRatioBased(settings.sampled);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor.build())
            .with_sampler(Sampler::ParentBased(Box::new(share)))
            .with_resource(resource(settings))
            .build();
        let scope = InstrumentationScope::builder("reference")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build();
        Ok(Self {
            tracer: provider.tracer_with_scope(scope),
            provider,
            excluded: settings.excluded()?,
            settings: settings.clone(),
        })
    }

    /// Patterns of paths whose requests have no span.
    pub(super) fn excluded(&self) -> &[Glob] {
        &self.excluded
    }

    /// Whether this telemetry uses these settings. Always false if the settings name files, because
    /// the files may have changed.
    pub fn goes_by(&self, settings: &Settings) -> bool {
        let names_files = settings.authorities.is_some() || settings.identity.is_some();
        self.settings == *settings && !names_files
    }

    /// Exports the remaining spans within a timeout. This blocks.
    pub fn flush(&self, time: Duration) {
        if let Err(error) = self.provider.shutdown_with_timeout(time) {
            warn!(why = %error, "spans were not sent in time");
        }
    }
}

impl Drop for Telemetry {
    /// Exports the remaining spans on a separate thread, because the last span may drop this value
    /// on a thread that must not block.
    fn drop(&mut self) {
        let provider = self.provider.clone();
        let last_words = move || provider.shutdown_with_timeout(LAST_WORDS);
        // If no thread can be started, dropping the provider blocks here.
        std::thread::Builder::new().spawn(last_words).ok();
    }
}

/// Resource attributes of the exporter.
fn resource(settings: &Settings) -> Resource {
    let attributes = settings.resource.iter();
    let attributes = attributes.map(|(name, value)| KeyValue::new(*name, value.clone()));
    Resource::builder_empty()
        .with_detector(Box::new(EnvResourceDetector::new()))
        .with_attributes(attributes)
        .build()
}
