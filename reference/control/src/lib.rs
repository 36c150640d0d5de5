//! The control plane: definitions of bundles, sources, stacks and secrets, and source data.

#![cfg_attr(
    not(all(feature = "clouds", feature = "git")),
    expect(
        dead_code,
        unused_imports,
        reason = "members of definitions that only the features that are left out read"
    )
)]

mod allowed_hosts;
mod blocking;
pub(crate) mod builder;
pub(crate) mod cipher;
mod config;
mod errors;
mod health;
mod keyring;
mod metrics;
pub(crate) mod model;
mod options;
mod page;
mod principal;
mod redact;
mod reload;
mod rotate;
mod routes;
mod secret_allowlist;
mod startup_migration;
pub(crate) mod storage;
#[cfg(feature = "clouds")]
mod storage_client;
mod storage_location;
pub(crate) mod store;
mod v1;
mod validation;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use http::{Method, StatusCode};
use tokio::sync::Semaphore;
use tracing::{error, info};

use self::health::Health;
use self::keyring::Keyring;
use self::metrics::Metrics;
pub use self::options::Options;
use self::principal::{Keys, Principal};
pub use self::rotate::RotateKey;
use self::routes::{Handler, ROUTES};
use self::store::{Contents, Store, StoreError, UnusableDatabase};
use self::worker::Settings;
pub use self::worker::Workers;
use http_server::StartError;
use http_server::route::{RouteMatch, find_below, methods};
use http_server::{ApiError, Reply, Request, Service};

/// Maximum size of a request body, in bytes.
const BODY_LIMIT: usize = 8 << 20;

/// Maximum size of a request body that is parsed on a connection thread, in bytes.
const QUICK_BODY: usize = 16 << 10;

/// Maximum number of concurrent requests; further requests wait for a permit.
const MAX_CONCURRENT_REQUESTS: usize = 64;

/// State of the control plane, shared by all requests.
#[derive(Debug)]
pub struct Control {
    options: Options,
    /// Prefix of all request paths; may be empty.
    prefix: String,
    store: Store,
    cipher: Keyring,
    keys: ArcSwap<Keys>,
    health: Health,
    settings: Settings,
    metrics: Metrics,
    /// Permits for concurrent requests.
    running: Arc<Semaphore>,
}

/// Opens the control plane: reads the configuration, inspects the database, migrates its schema,
/// and applies the definitions of the configuration.
///
/// # Errors
/// When a file, folder or database of the options cannot be used, or the encryption key does not
/// match the database. A database that cannot be used is left unchanged.
pub async fn open(options: &Options) -> Result<Arc<Control>, StartError> {
    let refused = |failure: &dyn std::error::Error| StartError::new(failure.to_string());
    let settings = options.settings()?;
    let declared = config::read(&options.config).map_err(|failure| refused(&failure))?;
    let mut options = options.clone();
    if options.database.is_none() {
        options.database = declared.database().map_err(|failure| refused(&failure))?;
    }
    options.check_database()?;
    let database = options.database_url();
    let contents = store::inspect(&database).await?;
    let cipher = options.keyring(&contents)?;
    if let Contents::Ours { check: Some(check) } = &contents {
        cipher.adopt(check).map_err(|failure| refused(&failure))?;
    }
    let prefix = declared.api_prefix().to_owned();
    let config = declared
        .sealed(&cipher)
        .map_err(|failure| refused(&failure))?;
    let store = Store::connect(&database).await?;
    let checked = store.prepare(
        |check| cipher.adopt(check).map_err(|failure| refused(&failure)),
        || cipher.check().map_err(|failure| refused(&failure)),
    );
    checked.await?;
    let control = Control {
        options,
        prefix,
        store,
        cipher,
        keys: ArcSwap::default(),
        health: Health::default(),
        settings,
        metrics: Metrics::default(),
        running: Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)),
    };
    let declared = control.apply(config, &control.cipher).await?;
    info!(declared, "the control plane is open");
    Ok(Arc::new(control))
}

impl From<UnusableDatabase> for StartError {
    fn from(failure: UnusableDatabase) -> Self {
        Self::new(failure.to_string())
    }
}

impl From<StoreError> for StartError {
    fn from(failure: StoreError) -> Self {
        Self::new(failure.to_string())
    }
}

/// Result of the route lookup.
type ControlMatch = RouteMatch<'static, Handler>;

impl Service for Control {
    const IS_BRIEF: bool = true;

    /// Handles a request in a task separate from the connection: if a client disconnect cancelled
    /// it, a transaction would stay open on a pooled connection of the database.
    async fn answer(self: &Arc<Self>, request: Request) -> Reply {
        // Public endpoints, such as health checks, require no permit: they respond even when
        // requests that wait for the database have taken all permits.
        let found = find_route(&request, &self.prefix);
        let needs_permit = match &found {
            Ok(RouteMatch::Found { route, .. }) => !route.endpoint.is_public(),
            Ok(RouteMatch::MethodNotAllowed { routes }) => {
                !routes.iter().all(|route| route.endpoint.is_public())
            }
            Ok(RouteMatch::NotFound) | Err(_) => true,
        };
        let quick = is_quick(&request, &found);
        let permit = match needs_permit {
            true => Arc::clone(&self.running).acquire_owned().await.ok(),
            false => None,
        };
        let control = Arc::clone(self);
        let response = async move {
            let started = Instant::now();
            let method = request.method.clone();
            let mut handler = "none";
            let reply = control.route_in_time(request, found, &mut handler).await;
            if permit.is_some() && reply.status == StatusCode::INTERNAL_SERVER_ERROR {
                control.store.probe().suspect();
            }
            drop(permit);
            let elapsed = started.elapsed();
            control
                .metrics
                .observe_request(handler, &method, reply.status, elapsed);
            reply
        };
        let runtime = self.store.runtime();
        let response = match needs_permit && !quick {
            true => {
                let handle = runtime.clone();
                runtime.spawn_blocking(move || handle.block_on(response))
            }
            false => runtime.spawn(response),
        };
        response.await.unwrap_or_else(|failure| {
            error!(%failure, "the handler panicked");
            ApiError::server_failed().reply()
        })
    }

    fn is_probe(&self, method: &Method, path: &str) -> bool {
        *method == Method::GET
            && path.strip_prefix(&self.prefix).is_some_and(|path| {
                let mut routes = ROUTES.iter();
                routes.any(|route| route.endpoint.is_public() && route.pattern == path)
            })
    }

    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }
}

impl Control {
    /// Routes a request, with a time limit if the database can stop responding.
    async fn route_in_time(
        &self,
        request: Request,
        found: Result<ControlMatch, ApiError>,
        name: &mut &'static str,
    ) -> Reply {
        let routed = self.route(request, found, name);
        let answered = match self.store.request_limit() {
            None => routed.await,
            Some(limit) => match tokio::time::timeout(limit, routed).await {
                Ok(answered) => answered,
                Err(_) => Err(errors::silent()),
            },
        };
        answered.unwrap_or_else(|failure| failure.reply())
    }

    /// Checks path, method, key, escapes and dots of the path, in this order, then calls the
    /// handler. Sets `name` to the pattern of the route.
    async fn route(
        &self,
        mut request: Request,
        found: Result<ControlMatch, ApiError>,
        name: &mut &'static str,
    ) -> Result<Reply, ApiError> {
        match found {
            Ok(RouteMatch::NotFound) => Ok(Reply::not_found()),
            Ok(RouteMatch::MethodNotAllowed { routes }) => {
                let mut allowed = methods(&routes);
                if allowed.contains(&&Method::GET) {
                    allowed.push(&Method::HEAD);
                }
                Ok(Reply::method_not_allowed(&allowed, true))
            }
            Ok(RouteMatch::Found { route, segments }) => {
                *name = route.pattern.trim_start_matches('/');
                request.path.set_route(route.fixed_part(), segments);
                match route.endpoint {
                    Handler::Public(handle) => handle(self, &request).await,
                    Handler::Bearer(handle) => match self.principal(&request) {
                        Some(_) if request.path.has_dot_segment() => Err(errors::dots()),
                        Some(principal) => handle(self, &principal, &request).await,
                        None => Ok(unauthorized()),
                    },
                }
            }
            // Only paths with parameters can have an invalid escape, and all of these require a
            // key.
            Err(_) if self.principal(&request).is_none() => Ok(unauthorized()),
            Err(failure) => Err(failure),
        }
    }

    /// Authenticates the caller for each request against the current keys: a removed key is
    /// rejected, even on a connection that used it before.
    fn principal(&self, request: &Request) -> Option<Principal> {
        let keys = self.keys.load();
        keys.principal(request.header("authorization")?).cloned()
    }
}

/// Returns true if a request needs so little processor time that a connection thread may handle it.
/// Large definitions take longer to parse, and lists and indented output to serialize.
fn is_quick(request: &Request, found: &Result<ControlMatch, ApiError>) -> bool {
    let names_one_resource =
        matches!(found, Ok(RouteMatch::Found { segments, .. }) if !segments.is_empty());
    names_one_resource && request.body.len() <= QUICK_BODY && !request.flag("pretty")
}

/// Finds the route of a request whose path begins with the prefix. `HEAD` is routed as `GET`.
fn find_route(request: &Request, prefix: &str) -> Result<ControlMatch, ApiError> {
    let method = match request.method {
        Method::HEAD => &Method::GET,
        ref method => method,
    };
    let found = find_below(prefix, ROUTES, method, &request.path)?;
    Ok(found.unwrap_or(RouteMatch::NotFound))
}

/// 401 in plain text. Serves `control/common/authentication/unauthorized-is-plain-text`.
fn unauthorized() -> Reply {
    Reply::text(StatusCode::UNAUTHORIZED, "Unauthorized\n")
}

/// Timeout after which a hanging test fails. No test depends on how fast something is.
#[cfg(test)]
const HANG_LIMIT: std::time::Duration = std::time::Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use rstest::rstest;

    use super::{QUICK_BODY, find_route, is_quick};
    use http_server::Request;

    #[rstest]
    #[case::get("GET", "/v1/bundles/b", 0, true)]
    #[case::put("PUT", "/v1/bundles/b", QUICK_BODY, true)]
    #[case::delete("DELETE", "/v1/sources/s", 0, true)]
    #[case::put_document("PUT", "/v1/sources/s/data/d", 3, true)]
    #[case::long_body("PUT", "/v1/bundles/b", QUICK_BODY + 1, false)]
    #[case::query("GET", "/v1/bundles/b?pretty", 0, false)]
    #[case::list("GET", "/v1/bundles?limit=100", 0, false)]
    #[case::list_without_query("GET", "/v1/secrets", 0, false)]
    #[case::post("POST", "/v1/bundles/b", 0, false)]
    #[case::unknown("GET", "/v1/none", 0, false)]
    fn threads_of_connections_answer_what_is_quick(
        #[case] method: &str,
        #[case] path: &str,
        #[case] length: usize,
        #[case] quick: bool,
    ) {
        let body = Bytes::from(vec![b' '; length]);
        let request = http::Request::builder().method(method).uri(path).body(body);
        let request = request.map(Request::from).ok();
        let found = request.map(|request| is_quick(&request, &find_route(&request, "")));
        assert_eq!(found, Some(quick));
    }
}
