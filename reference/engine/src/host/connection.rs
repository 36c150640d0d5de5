//! HTTP clients of policies by TLS options.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::LazyLock;

use http::header::{HOST, HeaderValue};
use rego::host::{HostError, HttpRequest};
use reqwest::{Client, ClientBuilder, redirect};

use super::tls;

/// Client of all requests without special connection options; it reuses connections.
static DEFAULT_CLIENT: LazyLock<Option<Client>> = LazyLock::new(|| {
    let config = tls::default_config().ok()?;
    builder().tls_backend_preconfigured(config).build().ok()
});

fn builder() -> ClientBuilder {
    Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
}

/// Returns the client for a request. The connection options are moved from the request to the
/// client.
pub(super) fn client(request: &mut HttpRequest) -> Result<Client, HostError> {
    let client = if let Some(path) = request.socket.take() {
        // A client without TLS cannot be built, although Unix sockets do not use it.
        let client = unix(builder(), path);
        client
            .tls_backend_preconfigured(tls::default_config()?)
            .build()
            .ok()
    } else if let Some(tls) = request.tls.take() {
        let mut client = builder().pool_max_idle_per_host(0);
        let name = request.server_name.take();
        if let Some(name) = name.filter(|_| request.url.scheme() == "https") {
            client = rename(client, request, &name)?;
        }
        client
            .tls_backend_preconfigured(tls::special(tls)?)
            .build()
            .ok()
    } else {
        DEFAULT_CLIENT.clone()
    };
    client.ok_or_else(|| HostError::Broken("no connections can be made".to_owned()))
}

#[cfg(unix)]
fn unix(client: ClientBuilder, path: String) -> ClientBuilder {
    client.unix_socket(path)
}

#[cfg(not(unix))]
fn unix(client: ClientBuilder, _path: String) -> ClientBuilder {
    client
}

/// Makes a client expect a certificate for another name than that of the host to which it connects:
/// replaces the host in the URL by this name, which resolves to the addresses of the host.
fn rename(
    client: ClientBuilder,
    request: &mut HttpRequest,
    name: &str,
) -> Result<ClientBuilder, HostError> {
    let name = name.split(':').next().unwrap_or_default();
    let url = &mut request.url;
    let real = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let found = addresses(real.trim_matches(['[', ']']), port);
    if found.is_empty() {
        return Err(HostError::NoSuchHost);
    }
    if !request.headers.contains_key(HOST) {
        let host = match url.port() {
            Some(port) => format!("{real}:{port}"),
            None => real,
        };
        let host = HeaderValue::from_str(&host);
        let host = host.map_err(|wrong| HostError::Refused(wrong.to_string()))?;
        request.headers.insert(HOST, host);
    }
    url.set_host(Some(name))
        .map_err(|_| HostError::Refused(format!("invalid server name {name:?}")))?;
    Ok(client.resolve_to_addrs(name, &found).http1_only())
}

/// Resolves the addresses of a name by the system's resolver.
pub(super) fn addresses(name: &str, port: u16) -> Vec<SocketAddr> {
    let found = (name, port).to_socket_addrs();
    found.map(Iterator::collect).unwrap_or_default()
}
