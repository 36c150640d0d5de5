//! The policy engine: policies and documents, decisions on them, queries, health and configuration.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use http::Method;
use rego::{Caches, Version};

use crate::StartError;
use crate::http::{ApiError, Code, Reply, Request, Service};

mod authorize;
mod body;
mod bundle_files;
mod bundles;
mod config;
mod decision;
mod evaluate;
mod explain;
mod gzip;
mod health;
mod id;
mod load;
mod metrics;
mod pace;
mod plugins;
mod refusal;
mod root;
mod routes;
mod state;
mod store;
mod v0;
mod v1;

pub use bundle_files::BundleOptions;
pub use bundles::Bundles;
pub(crate) use refusal::item as mistake;
pub use routes::{Handler, ROUTES};
pub use store::StoreError;

use config::Config;
use metrics::Totals;
use plugins::Plugins;
pub(crate) use plugins::Running;
use state::{Contents, State};

/// Requests with a larger body are handled away from the threads that serve connections.
const LARGE_BODY: usize = 64 << 10;

/// The vendor in media types, unless another is asked for.
const MEDIA_TYPE_VENDOR: &str = "engine";

/// A vendor as it may stand in a media type.
fn vendor(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.chars().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("letters, digits, `-` and `_` only".to_owned()),
    }
}

/// What the command line says about the engine.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(id = "engine")]
pub struct Options {
    /// Configuration file, YAML or JSON; `${NAME}` stands for an environment variable
    #[arg(short, long, value_name = "FILE")]
    pub config_file: Option<PathBuf>,
    /// Overrides configuration values, such as `labels.region=west,decision_logs.console=true`
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Overrides configuration values with the contents of files
    #[arg(long, value_name = "KEY=FILE")]
    pub set_file: Vec<String>,
    /// How clients prove who they are: `tls` demands certificates that `--tls-ca-cert-file` has
    /// signed, `token` takes effect only together with authorization
    #[arg(long, value_name = "SCHEME", default_value = "off", value_parser = ["token", "tls", "off"])]
    #[arg(requires_if("tls", "tls_ca_cert_file"))]
    pub authentication: String,
    /// Whether a policy decides on each request: `basic` asks the document that the configuration
    /// gives as `default_authorization_decision`
    #[arg(long, value_name = "SCHEME", default_value = "off", value_parser = ["basic", "off"])]
    pub authorization: String,
    /// Names of files and directories that are not loaded, such as `.*`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// The vendor in the media types of data filters: `opa` for its clients
    #[arg(long, value_name = "NAME", default_value = MEDIA_TYPE_VENDOR)]
    #[arg(value_parser = vendor)]
    pub media_type_vendor: Option<String>,
    /// Policies and queries are Rego v0 unless they, or the manifest of their bundle, say
    /// otherwise; without `--addr` every network interface is listened on, port 8181
    #[arg(long)]
    pub v0_compatible: bool,
    /// Accepted for compatibility: this program always serves
    #[arg(short, long)]
    pub server: bool,
    /// Accepted for compatibility: this program never looks for newer versions
    #[arg(long, hide = true)]
    pub skip_version_check: bool,
    /// Accepted for compatibility: HTTP/2 is always spoken, also without TLS
    #[arg(long, hide = true)]
    pub h2c: bool,
    /// Bundles on the command line
    #[command(flatten)]
    pub bundles: BundleOptions,
    /// Policy and data files and directories, each as `[PREFIX:]PATH`; directories nest data
    #[arg(value_name = "FILE|DIR")]
    pub data: Vec<String>,
}

/// The policy engine. Clones share everything.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What tells this instance from others.
    id: String,
    /// What it goes by, replaced whole.
    config: ArcSwap<Config>,
    /// What it does by itself.
    plugins: Plugins,
    /// The vendor in media types.
    vendor: String,
    /// The version of policies and queries that do not say theirs.
    version: Version,
    /// Whether a policy decides on each request.
    authorizes: bool,
    /// Whether that policy is told who sends it.
    identifies: bool,
    /// What requests see: whole, unchanging, replaced by writers.
    state: ArcSwap<State>,
    /// Held by the writer whose changes come next.
    writing: Mutex<()>,
    /// What is measured of all requests.
    totals: Totals,
}

impl Engine {
    /// Opens an engine with its configuration and data files.
    ///
    /// # Errors
    /// When a file cannot be read or used, or an option needs what is not supported.
    pub fn open(options: &Options) -> Result<Self, StartError> {
        let id = id::random();
        let given = Config::read(options)?;
        config::warn(&given);
        let config = Config::of(&given, &id);
        let config = config.map_err(|why| StartError::new(format!("configuration: {why}")))?;
        let (paths, ignored) = (&options.data, &options.ignore);
        let version = match options.v0_compatible {
            true => Version::V0,
            false => Version::V1,
        };
        let contents = match options.bundles.bundle {
            true => bundle_files::contents(&options.bundles, paths, ignored, version)?,
            false => load::contents(paths, ignored, version)?,
        };
        let caches = Arc::new(Caches::new(&config.caches));
        Ok(Self(Arc::new(Inner {
            id,
            plugins: Plugins::new(&config.plugins),
            config: ArcSwap::from_pointee(config),
            vendor: match &options.media_type_vendor {
                Some(vendor) => vendor.clone(),
                None => MEDIA_TYPE_VENDOR.to_owned(),
            },
            version,
            authorizes: options.authorization == "basic",
            identifies: options.authentication == "token",
            state: ArcSwap::from_pointee(State::new(contents, caches)),
            writing: Mutex::new(()),
            totals: Totals::default(),
        })))
    }

    /// What tells this instance from others.
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The configuration as it is now.
    fn config(&self) -> Guard<Arc<Config>> {
        self.0.config.load()
    }

    /// Goes by another configuration from now on.
    fn configure(&self, config: Config) {
        self.0.plugins.board.configure(&config.plugins);
        self.state().caches().limit(&config.caches);
        self.0.config.store(Arc::new(config));
    }

    /// What the engine does by itself.
    fn plugins(&self) -> &Plugins {
        &self.0.plugins
    }

    /// The vendor in media types.
    fn vendor(&self) -> &str {
        &self.0.vendor
    }

    /// The version of policies and queries that do not say theirs.
    fn version(&self) -> Version {
        self.0.version
    }

    /// What is measured of all requests.
    fn totals(&self) -> &Totals {
        &self.0.totals
    }

    /// The documents and policies as they are now.
    fn state(&self) -> Arc<State> {
        self.0.state.load_full()
    }

    /// Changes documents or policies. Nothing of the change is seen before it is complete, and
    /// nothing at all if it fails.
    fn write<E>(&self, change: impl FnOnce(&mut Contents) -> Result<(), E>) -> Result<(), E> {
        let writing = self.0.writing.lock();
        let _writing = writing.unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        let mut contents = state.contents().clone();
        change(&mut contents)?;
        let caches = Arc::clone(state.caches());
        self.0.state.store(Arc::new(State::new(contents, caches)));
        Ok(())
    }
}

impl Engine {
    /// Whether a request is answered at once, so that the thread that serves its connection may
    /// do it: it only looks, and its query has lately been quick.
    fn is_quick(&self, request: &Request) -> bool {
        if self.0.authorizes {
            return false;
        }
        let path = request.path.as_str();
        let decides = path.starts_with("/v1/data");
        match request.method {
            Method::GET if !decides => {
                !path.starts_with("/v1/query") && !path.starts_with("/health/")
            }
            // What policies hide of a decision is decided with it, however long that takes.
            Method::GET | Method::POST
                if decides && self.config().plugins.decision_logs.is_some() =>
            {
                false
            }
            Method::GET | Method::POST if decides => {
                let kept = self.state().decisions(&request.method).get(path);
                kept.is_some_and(|query| query.pace.is_quick())
            }
            Method::POST if path == "/v1/compile" => self.state().residuals.is_quick(),
            Method::POST if path.starts_with("/v1/compile/") => {
                let kept = self.state().filters.get(path);
                kept.is_some_and(|query| query.pace.is_quick())
            }
            _ => false,
        }
    }
}

/// Cancels a request when whoever waits for its answer goes away.
#[derive(Debug)]
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Default for Engine {
    /// An engine without documents, in its default configuration.
    fn default() -> Self {
        let id = id::random();
        let config = Config::new(&id);
        Self(Arc::new(Inner {
            id,
            plugins: Plugins::new(&config.plugins),
            config: ArcSwap::from_pointee(config),
            vendor: MEDIA_TYPE_VENDOR.to_owned(),
            version: Version::V1,
            authorizes: false,
            identifies: false,
            state: ArcSwap::from_pointee(State::default()),
            writing: Mutex::new(()),
            totals: Totals::default(),
        }))
    }
}

impl Service for Engine {
    async fn answer(self: Arc<Self>, request: Request) -> Reply {
        let short = request.body.len() <= LARGE_BODY && !gzip::is_compressed(&request);
        if short && self.is_quick(&request) {
            return self.respond(request);
        }
        let _waiting = Waiting(Arc::clone(&request.cancelled));
        let answered = tokio::task::spawn_blocking(move || self.respond(request)).await;
        answered.unwrap_or_else(|failure| {
            tracing::error!(%failure, "the handler panicked");
            ApiError::new(Code::InternalError, "the server failed").reply()
        })
    }

    fn body_limit(&self) -> usize {
        self.config().max_body
    }
}
