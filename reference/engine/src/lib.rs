//! Policy engine: policies and documents, decisions on them, queries, health and configuration.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use http::Method;
use rego::{Caches, Value, Version};

use crate::host::SystemHost;
use bundle::{Bundle, BundleError};
use http_server::StartError;
use http_server::{Reply, Request, Service};

#[cfg(test)]
#[path = "../../rego/tests/support/processor_time.rs"]
mod processor_time;

mod active_bundles;
mod authorize;
mod authz_identity;
mod bundle_activation;
mod bundle_files;
mod column_types;
mod config;
mod decision;
mod diagnostics;
mod errors;
mod evaluate;
mod explain;
mod file_watcher;
mod gzip;
mod health;
mod host;
mod ignored_flags;
mod inline_policy;
mod limits;
mod load;
mod metrics;
mod options;
mod parallel_read;
mod pipeline;
mod plugins;
mod provenance;
mod query_cache;
mod random_id;
mod reload;
mod request_body;
mod root;
mod routes;
mod runtime;
mod schedule;
mod spans;
mod state;
mod store;
mod v0;
mod v1;
mod workload;

pub use active_bundles::Bundles;
pub use bundle_files::BundleOptions;
pub use limits::EvaluationOptions;
pub use options::Options;
pub use store::StoreError;

pub use diagnostics::Diagnostics;
pub use file_watcher::Watcher;
pub use reload::InitialSnapshot;

use authz_identity::Authentication;
use column_types::KnownColumns;
use config::Config;
use limits::EvaluationLimits;
use metrics::Totals;
use options::MEDIA_TYPE_VENDORS;
pub use plugins::Running;
use plugins::{Host, Plugins};
use runtime::Runtime;
use state::{Contents, State};

/// The policy engine. Clones share all data.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Unique id of this instance.
    id: String,
    /// Current configuration, replaced as a whole.
    config: ArcSwap<Config>,
    /// Background plugins.
    plugins: Arc<Plugins>,
    /// Vendors that media types of filters may name.
    vendors: Vec<String>,
    /// Whether the Batch API is enabled.
    has_batches: bool,
    /// Column types that filters may rely on.
    known_columns: Arc<KnownColumns>,
    /// Rego version of policies and queries that do not specify one.
    version: Version,
    /// Settings that policies see in `opa.runtime`.
    runtime: Runtime,
    /// Scheme by which callers are identified to the authorization policy.
    authentication: Authentication,
    /// Immutable state that requests read, replaced by writers.
    state: ArcSwap<State>,
    /// Locked by the current writer.
    writing: Mutex<()>,
    /// Metrics of all requests.
    totals: Totals,
}

impl Engine {
    /// Opens an engine with its configuration and data files.
    ///
    /// # Errors
    /// When a file cannot be read or is invalid, or an option needs an unsupported feature.
    pub fn open(options: &Options) -> Result<Self, StartError> {
        let id = random_id::random();
        let document = Config::read(options)?;
        config::warn(&document);
        let config = Config::of(&document, &id);
        let config = config.map_err(|error| StartError::new(format!("configuration: {error}")))?;
        let paths: Vec<String> = options.paths().map(str::to_owned).collect();
        let (paths, ignored) = (&paths, &options.ignore);
        let version = match options.v0_compatible {
            true => Version::V0,
            false => Version::V1,
        };
        options.without_effect.log_set_flags();
        let mut contents = match options.bundles.bundle {
            true => bundle_files::contents(&options.bundles, paths, ignored, version)?,
            false => load::contents(paths, ignored, version)?,
        };
        runtime::show_version(&mut contents).map_err(|error| {
            StartError::new(format!("`data.system.version` cannot be written: {error}"))
        })?;
        let buckets = config.buckets.as_deref();
        let totals = buckets.map_or_else(Totals::default, Totals::with_buckets);
        let caches = Arc::new(Caches::new(&config.caches));
        let limits = Arc::new(EvaluationLimits::new(&options.evaluation));
        let runtime = Runtime {
            authorizes: options.authorization == "basic",
            skips_schema_check: options.without_effect.skip_known_schema_check,
        };
        let host = SystemHost::telling(runtime.value(&config.redacted));
        Ok(Self(Arc::new(Inner {
            id,
            plugins: Arc::new(Plugins::new(&config.plugins)),
            config: ArcSwap::from_pointee(config),
            vendors: match options.media_type_vendor.as_slice() {
                [] => MEDIA_TYPE_VENDORS.map(String::from).into(),
                vendors => vendors.to_vec(),
            },
            has_batches: !options.disable_batch_api,
            known_columns: Arc::new(KnownColumns::read(options.sql_column_types.as_deref())?),
            version,
            runtime,
            authentication: Authentication::named(&options.authentication),
            state: ArcSwap::from_pointee(State::new(contents, caches, limits, host)),
            writing: Mutex::new(()),
            totals,
        })))
    }

    /// Current configuration.
    fn config(&self) -> Guard<Arc<Config>> {
        self.0.config.load()
    }

    /// Starts the background plugins of the engine, which was opened with these options.
    ///
    /// # Errors
    /// When the configuration cannot be applied.
    pub fn start_plugins(&self, options: &Options) -> Result<Running, StartError> {
        Running::start(Arc::new(self.clone()), &self.0.plugins, options)
    }

    /// Waits until all plugins are ready, for at most the timeout of the options.
    ///
    /// # Errors
    /// When the plugins are not ready in time.
    pub async fn wait_until_ready(&self, options: &Options) -> Result<(), StartError> {
        let Some(seconds) = u64::try_from(options.ready_timeout)
            .ok()
            .filter(|time| *time > 0)
        else {
            return Ok(());
        };
        let statuses = &self.0.plugins.statuses;
        let mut changes = statuses.watch();
        let ready = async {
            // `statuses` owns the sender, so the channel stays open.
            while statuses.plugins().into_values().any(|fine| !fine)
                && changes.changed().await.is_ok()
            {}
        };
        let waited = tokio::time::timeout(Duration::from_secs(seconds), ready).await;
        waited.map_err(|_| {
            let states = statuses.states();
            let late = states
                .filter(|(_, state)| *state != "OK")
                .map(|(name, _)| name);
            let late = late.collect::<Vec<_>>().join(", ");
            StartError::new(format!("not ready within {seconds} s: {late}"))
        })
    }

    /// Background plugins, as requests see them.
    fn plugins(&self) -> &Plugins {
        &self.0.plugins
    }

    /// Vendors that media types of filters may name.
    fn vendors(&self) -> &[String] {
        &self.0.vendors
    }

    /// Whether the Batch API is enabled.
    fn has_batches(&self) -> bool {
        self.0.has_batches
    }

    /// Column types that filters may rely on.
    fn known_columns(&self) -> &Arc<KnownColumns> {
        &self.0.known_columns
    }

    /// Rego version of policies and queries that do not specify one.
    fn version(&self) -> Version {
        self.0.version
    }

    /// Metrics of all requests.
    fn totals(&self) -> &Totals {
        &self.0.totals
    }

    /// Whether decisions are logged.
    fn logs_decisions(&self) -> bool {
        self.config().plugins.decision_logs.is_some()
    }

    /// Current documents and policies.
    fn state(&self) -> Guard<Arc<State>> {
        self.0.state.load()
    }

    /// Changes documents or policies. The change is visible only when it is complete, and not at
    /// all if it fails.
    fn write<E>(&self, change: impl FnOnce(&mut Contents) -> Result<(), E>) -> Result<(), E> {
        self.replace(|state| {
            let mut contents = state.contents().clone();
            change(&mut contents)?;
            Ok(state.with(contents))
        })
    }

    /// Replaces the state by its successor. Writers are serialized.
    fn replace<E>(&self, follow: impl FnOnce(&State) -> Result<State, E>) -> Result<(), E> {
        let writing = self.0.writing.lock();
        let _writing = writing.unwrap_or_else(PoisonError::into_inner);
        let next = follow(&self.state())?;
        self.0.state.store(Arc::new(next));
        Ok(())
    }
}

impl Host for Engine {
    fn id(&self) -> &str {
        &self.0.id
    }

    fn version(&self) -> Version {
        self.0.version
    }

    fn labels(&self) -> Value {
        self.config().labels().clone()
    }

    fn runtime(&self, redacted: &Value) -> Value {
        self.0.runtime.value(redacted)
    }

    fn configure(&self, config: Config) {
        let host = SystemHost::telling(self.runtime(&config.redacted));
        let outcome = self.replace(|state| Ok::<_, Infallible>(state.telling(host)));
        match outcome {
            Ok(()) => {}
            Err(never) => match never {},
        }
        self.0.plugins.statuses.configure(&config.plugins);
        self.state().caches().limit(&config.caches);
        self.0.config.store(Arc::new(config));
    }

    fn activate(&self, bundles: Vec<(String, Bundle)>) -> Result<(), BundleError> {
        Self::activate(self, bundles)
    }

    fn deactivate(&self, names: &[String]) -> Result<(), BundleError> {
        Self::deactivate(self, names)
    }
}

impl Default for Engine {
    /// Creates an engine without documents, with the default configuration.
    fn default() -> Self {
        let id = random_id::random();
        let config = Config::new(&id);
        let runtime = Runtime::default();
        let host = SystemHost::telling(runtime.value(&config.redacted));
        Self(Arc::new(Inner {
            id,
            plugins: Arc::new(Plugins::new(&config.plugins)),
            config: ArcSwap::from_pointee(config),
            vendors: MEDIA_TYPE_VENDORS.map(String::from).into(),
            has_batches: true,
            known_columns: Arc::default(),
            version: Version::V1,
            runtime,
            authentication: Authentication::Off,
            state: ArcSwap::from_pointee(State::default().telling(host)),
            writing: Mutex::new(()),
            totals: Totals::default(),
        }))
    }
}

impl Service for Engine {
    const IS_BRIEF: bool = true;

    fn answer(self: &Arc<Self>, request: Request) -> impl Future<Output = Reply> + Send {
        self.schedule(request)
    }

    fn is_probe(&self, method: &Method, path: &str) -> bool {
        routes::is_probe(method, path)
    }

    fn body_limit(&self) -> usize {
        self.config().max_body
    }
}

/// Timeout after which a hanging test fails. No test depends on the speed of the machine.
#[cfg(test)]
const HANG_LIMIT: Duration = Duration::from_secs(120);
