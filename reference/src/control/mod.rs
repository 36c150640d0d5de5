//! The control plane: definitions of bundles, sources, stacks and secrets, and source data.

mod admission;
pub(crate) mod builder;
pub(crate) mod cipher;
mod config;
pub(crate) mod destination;
mod guard;
mod health;
mod hosts;
mod metrics;
pub(crate) mod model;
mod options;
mod page;
mod place;
mod principal;
mod redact;
mod routes;
mod settle;
mod storage;
pub(crate) mod store;
mod v1;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use http::{Method, StatusCode};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::{error, info, warn};

use self::cipher::Cipher;
use self::metrics::Metrics;
pub use self::options::Options;
use self::principal::{Keys, Principal};
use self::routes::{Handler, ROUTES};
use self::store::{Store, StoreError};
use self::worker::Settings;
pub use self::worker::Workers;
use crate::StartError;
use crate::http::route::{Found, find};
use crate::http::{ApiError, Code, Reply, Request, Service};

/// The largest request body, in bytes.
const BODY_LIMIT: usize = 8 << 20;

/// Requests that run at the same time; further ones wait on their connections.
const RUNNING: usize = 64;

/// The name that the key check of a database is sealed under; no secret can have it.
const KEY_CHECK: &str = "";

/// The control plane.
#[derive(Debug)]
pub struct Control {
    store: Store,
    cipher: Cipher,
    keys: Keys,
    settings: Settings,
    metrics: Metrics,
    /// A permit for each request that may run at the same time.
    running: Arc<Semaphore>,
}

/// Opens the control plane: reads the configuration, connects to the database, brings its schema
/// up to date, and declares what the configuration says.
///
/// # Errors
/// When something that the options name cannot be used, or the encryption key is not the one
/// that the database was made with.
pub async fn open(options: &Options) -> Result<Arc<Control>, StartError> {
    let refused = |failure: &dyn std::error::Error| StartError::new(failure.to_string());
    let cipher = options.cipher()?;
    let mut config = config::load(&options.config, &cipher).map_err(|failure| refused(&failure))?;
    if config.keys.is_empty() {
        warn!("the configuration has no tokens, so every request below /v1 will be refused");
    }
    let store = Store::connect(&options.database).await;
    let store = store.map_err(|failure| refused(&failure))?;
    let checked = store.prepare(
        |sealed| {
            let opened = cipher.open(KEY_CHECK, sealed);
            opened.map(drop).map_err(|failure| refused(&failure))
        },
        || {
            let sealed = cipher.seal(KEY_CHECK, KEY_CHECK.as_bytes());
            sealed.map_err(|failure| refused(&failure))
        },
    );
    checked.await?;
    let roots = &options.bundle_root;
    let settled = settle::settle(&store, &config.keys, &mut config.entries, roots).await;
    settled.map_err(|failure| refused(&failure))?;
    let declared = store.declare(&config.entries).await;
    declared.map_err(|failure| StartError::new(format!("configuration: {failure}")))?;
    info!(declared = config.entries.len(), "the control plane is open");
    Ok(Arc::new(Control {
        store,
        cipher,
        keys: config.keys,
        settings: options.settings()?,
        metrics: Metrics::default(),
        running: Arc::new(Semaphore::new(RUNNING)),
    }))
}

impl From<StoreError> for StartError {
    fn from(failure: StoreError) -> Self {
        Self::new(failure.to_string())
    }
}

impl Service for Control {
    /// A client that goes away ends its connection, and what runs on it. Requests run beside it,
    /// so that none leaves a transaction open on a pooled connection of the database.
    async fn answer(self: Arc<Self>, request: Request) -> Reply {
        let permit = Arc::clone(&self.running).acquire_owned().await;
        // Who looks at the state of the server is not to wait for a thread.
        let works = request.path.starts_with("/v1/");
        let answered = async move {
            let begun = Instant::now();
            let method = request.method.clone();
            let mut handler = "none";
            let reply = self.route(request, &mut handler).await;
            drop(permit);
            let reply = reply.unwrap_or_else(|failure| failure.reply());
            let took = begun.elapsed();
            self.metrics.answered(handler, &method, reply.status, took);
            reply
        };
        // Definitions are parsed and written as JSON, which takes long if they are large, so the
        // threads that serve connections do not do it.
        let answered = match works {
            true => {
                let runtime = Handle::current();
                tokio::task::spawn_blocking(move || runtime.block_on(answered))
            }
            false => tokio::spawn(answered),
        };
        answered.await.unwrap_or_else(|failure| {
            error!(%failure, "the handler panicked");
            ApiError::new(Code::InternalError, "the server failed").reply()
        })
    }

    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }
}

impl Control {
    /// The checks that come before a handler, in their order: the path, the method, the key, the
    /// escapes of the path. Names the handler by the pattern of its route.
    async fn route(
        &self,
        mut request: Request,
        name: &mut &'static str,
    ) -> Result<Reply, ApiError> {
        let method = match request.method {
            Method::HEAD => Method::GET,
            _ => request.method.clone(),
        };
        let head = Method::HEAD;
        let found = find(ROUTES, &method, &request.path);
        match found {
            Ok(Found::NotFound) => Ok(Reply::text(StatusCode::NOT_FOUND, "404 page not found\n")),
            Ok(Found::MethodNotAllowed { mut allowed }) => {
                if allowed.contains(&&Method::GET) {
                    allowed.push(&head);
                }
                Ok(Reply::method_not_allowed(&allowed, true))
            }
            Ok(Found::Handler {
                handler,
                pattern,
                segments,
            }) => {
                *name = pattern.trim_start_matches('/');
                request.segments = segments;
                match handler {
                    Handler::Public(handle) => handle(self, &request).await,
                    Handler::Bearer(handle) => match self.principal(&request) {
                        Some(principal) => handle(self, principal, &request).await,
                        None => Ok(unauthorized()),
                    },
                }
            }
            // Only paths with open segments can have a broken escape, and those need a key.
            Err(_) if self.principal(&request).is_none() => Ok(unauthorized()),
            Err(failure) => Err(failure),
        }
    }

    fn principal(&self, request: &Request) -> Option<&Principal> {
        self.keys.principal(request.header("authorization")?)
    }
}

/// Serves `control/common/authentication/unauthorized-is-plain-text`.
fn unauthorized() -> Reply {
    Reply::text(StatusCode::UNAUTHORIZED, "Unauthorized\n")
}
