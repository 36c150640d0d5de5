//! HTTP connectors of services.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::{Certificate, Identity, Url, redirect};
use tracing::{info, warn};

use crate::config::Service;

/// Timeout of connecting to a service, and of each read.
const PAUSE: Duration = Duration::from_secs(30);

/// Creates HTTP clients for a service, and rereads the client certificate if so configured.
#[derive(Debug)]
pub(super) struct Connector {
    service: Service,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    client: reqwest::Client,
    /// Client certificate and key in PEM, if configured, and when they were read.
    own: Option<Vec<u8>>,
    at: Instant,
}

impl Connector {
    /// Creates a connector for this service.
    ///
    /// # Errors
    /// When a file that the service's configuration names cannot be used.
    pub(super) fn new(service: &Service) -> Result<Self, String> {
        let named = |reason: String| format!("service `{}`: {reason}", service.name);
        let own = own(service).map_err(named)?;
        let client = client(service, own.as_deref()).map_err(named)?;
        let at = Instant::now();
        Ok(Self {
            service: service.clone(),
            state: Mutex::new(State { client, own, at }),
        })
    }

    /// Client for the next request. If changed files cannot be used, the present certificate stays.
    pub(super) fn client(&self) -> reqwest::Client {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let tls = self.service.credentials.client_tls.as_ref();
        let interval = tls.and_then(|tls| tls.reread());
        if interval.is_some_and(|interval| state.at.elapsed() >= interval) {
            state.at = Instant::now();
            self.renew(&mut state);
        }
        state.client.clone()
    }

    fn renew(&self, state: &mut State) {
        let service = &self.service.name;
        let renewed = own(&self.service).and_then(|own| match own == state.own {
            true => Ok(None),
            false => client(&self.service, own.as_deref()).map(|client| Some((client, own))),
        });
        match renewed {
            Ok(None) => {}
            Ok(Some((client, own))) => {
                (state.client, state.own) = (client, own);
                info!(service, "the certificate for this service changed");
            }
            Err(error) => warn!(
                service,
                why = error,
                "the client certificate cannot be reloaded; the previous one stays in use"
            ),
        }
    }
}

/// Client certificate for a service, and its key, in PEM.
fn own(service: &Service) -> Result<Option<Vec<u8>>, String> {
    let Some(own) = &service.credentials.client_tls else {
        return Ok(None);
    };
    let mut pem = read(&own.cert)?;
    pem.extend(read(&own.private_key)?);
    Ok(Some(pem))
}

fn client(service: &Service, own: Option<&[u8]>) -> Result<reqwest::Client, String> {
    http_server::tls_provider::install();
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(PAUSE)
        .read_timeout(PAUSE)
        .tls_danger_accept_invalid_certs(service.allow_insecure_tls);
    let url = Url::parse(&service.url).map_err(|error| error.to_string())?;
    if url.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    let tls = service.tls();
    if let Some(file) = &tls.ca_cert {
        let authorities = Certificate::from_pem_bundle(&read(file)?);
        let authorities = authorities.map_err(|error| error.to_string())?;
        if authorities.is_empty() {
            return Err(format!("no certificate in `{}`", file.display()));
        }
        builder = match tls.system_ca_required {
            true => builder.tls_certs_merge(authorities),
            false => builder.tls_certs_only(authorities),
        };
    }
    if let Some(pem) = own {
        builder = builder.identity(Identity::from_pem(pem).map_err(|error| error.to_string())?);
    }
    builder.build().map_err(|error| cause(&error))
}

/// Whether a host is this machine. Requests to it use no proxy, because a proxy cannot reach it.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("file `{}`: {error}", file.display()))
}

/// Returns the innermost cause of an error, without the URL, which may contain a secret.
pub(super) fn cause(failure: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = failure;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
