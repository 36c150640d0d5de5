//! Single attempts of a request, as the host sends them.

use ::url::Url;
use http::Method;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use percent_encoding::percent_decode_str;

use super::error::RequestError;
use super::options::{MAX_BODY, Options};
use crate::builtins::pem::encode;
use crate::builtins::url::{Url as ParsedUrl, quote};
use crate::host::{HttpRequest, Tls};

/// Default user agent.
const AGENT: &str = concat!("rego/", env!("CARGO_PKG_VERSION"));

/// Request for one hop of a redirect chain.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) request: HttpRequest,
    /// Whether the response may be compressed without the policy knowing.
    pub(super) gzip: bool,
}

impl Attempt {
    /// Creates the request for the next hop, without a timeout.
    pub(super) fn new(options: &Options, tls: Option<&Tls>) -> Result<Self, RequestError> {
        let mut url = address(options)?;
        let mut socket = None;
        if let Some((path, http)) = split_socket(&url) {
            (socket, url) = (Some(path), http);
        }
        let method = Method::from_bytes(options.method.as_bytes()).map_err(|_| {
            let method = quote(&options.method);
            RequestError::Value(format!("net/http: invalid method {method}"))
        })?;
        let mut headers = headers(options)?;
        if let Some(login) = login(&mut url)
            && !headers.contains_key(AUTHORIZATION)
        {
            headers.insert(AUTHORIZATION, login);
        }
        let gzip = !headers.contains_key(ACCEPT_ENCODING) && options.method != "HEAD";
        if gzip {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let has_body = matches!(options.method.as_str(), "POST" | "PUT" | "PATCH");
        if has_body && options.body.is_empty() {
            // Servers may refuse such requests without a length.
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let name = options.server_name.as_deref().or(options.header("host"));
        let request = HttpRequest {
            method,
            url,
            headers,
            body: (has_body || !options.body.is_empty()).then(|| options.body.clone()),
            timeout: None,
            max_body: MAX_BODY,
            socket,
            tls: tls.cloned(),
            server_name: name.filter(|_| tls.is_some()).map(str::to_owned),
        };
        Ok(Self { request, gzip })
    }
}

/// Returns the URL of a request: `http`, `https`, or `unix`.
pub(super) fn address(options: &Options) -> Result<Url, RequestError> {
    let url = ParsedUrl::parse(&options.url).map_err(RequestError::Value)?;
    match url.scheme.as_str() {
        "http" | "https" | "unix" => {}
        other => {
            let message = format!("unsupported protocol scheme {}", quote(other));
            return Err(options.network_error(message));
        }
    }
    if url.authority().is_empty() {
        return Err(options.network_error("http: no Host in request URL"));
    }
    Url::parse(&options.url).map_err(|error| options.network_error(error.to_string()))
}

/// Removes the user and the password from a URL and returns them as a header.
fn login(url: &mut Url) -> Option<HeaderValue> {
    let user = percent_decode_str(url.username()).collect::<Vec<u8>>();
    let password = percent_decode_str(url.password().unwrap_or_default()).collect::<Vec<u8>>();
    if user.is_empty() && url.password().is_none() {
        return None;
    }
    url.set_username("")
        .and_then(|()| url.set_password(None))
        .ok()?;
    let login = encode(&[user, password].join(&b':'));
    let mut header = HeaderValue::from_str(&format!("Basic {login}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Splits the socket path off a URL such as `unix://localhost/path?socket=%2Ftmp%2Fsocket`. Returns
/// the path and the URL without it.
fn split_socket(url: &Url) -> Option<(String, Url)> {
    if url.scheme() != "unix" {
        return None;
    }
    let path = url
        .query_pairs()
        .find(|(name, _)| name == "socket")?
        .1
        .into_owned();
    let others: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "socket")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    let text = url.as_str().strip_prefix("unix://")?.split('?').next()?;
    let mut http = Url::parse(&format!("http://{text}")).ok()?;
    if !others.is_empty() {
        http.query_pairs_mut().extend_pairs(others);
    }
    Some((path, http))
}

/// Returns the requested headers; of several hosts, the first.
fn headers(options: &Options) -> Result<HeaderMap, RequestError> {
    let mut headers = HeaderMap::new();
    let value = |text: &str| {
        HeaderValue::from_str(text).map_err(|_| {
            let message = format!("net/http: invalid header field value {}", quote(text));
            options.network_error(message)
        })
    };
    for (name, text) in &options.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            let message = format!("net/http: invalid header field name {}", quote(name));
            options.network_error(message)
        })?;
        headers.append(name, value(text)?);
    }
    if let Some(host) = options.header("host") {
        headers.insert(http::header::HOST, value(host)?);
    }
    if !headers.contains_key(USER_AGENT) {
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    }
    Ok(headers)
}
