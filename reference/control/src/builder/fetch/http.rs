//! Documents fetched over HTTP.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, Url, redirect};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::credentials::{ClientCredentials, Credentials, KeyPlace, ResolvedCredentials, TlsCert};
use super::datasource_config::Config;
use super::{BuildError, check_host};
use crate::allowed_hosts::AllowedHosts;
use crate::secret_allowlist::SecretAllowlist;

/// Maximum number of redirects that a request follows.
const MAX_REDIRECTS: usize = 5;

/// Maximum size of a token response, in bytes.
const MAX_TOKEN_BYTES: u64 = 1 << 20;

/// User agent; some servers refuse requests without one.
const USER_AGENT: &str = concat!("reference/", env!("CARGO_PKG_VERSION"));

/// Headers that determine the target or the framing of a request. Setting them could reach a server
/// other than the allowed one, or smuggle a second request.
const FRAMING_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Fetches the body of a response.
///
/// # Errors
/// When the config or credentials are invalid, the host is not allowed, or the response is not a
/// success or longer than `limit` bytes.
pub(super) async fn fetch(
    config: &Config<'_>,
    resolved: Option<ResolvedCredentials>,
    hosts: &AllowedHosts,
    limit: u64,
) -> Result<Vec<u8>, BuildError> {
    let mut url = address(config.required("url")?, "config.url", hosts)?;
    let (credentials, guard) = match resolved {
        Some(ResolvedCredentials { credentials, guard }) => (Some(credentials), Some(guard)),
        None => (None, None),
    };
    // Redirects are followed on the same host and port only, with the same scheme.
    if let Some(guard) = &guard {
        guard.check_url(&url).map_err(BuildError::config)?;
    }
    let method = match config.text("method")? {
        "" => Method::GET,
        method => Method::from_bytes(method.as_bytes())
            .map_err(|_| BuildError::config("invalid config.method"))?,
    };
    if let Some(Credentials::ApiKey {
        key,
        value,
        place: KeyPlace::Query,
    }) = &credentials
    {
        url.query_pairs_mut().append_pair(key, value);
    }
    let tls = match &credentials {
        Some(Credentials::TlsCert(_)) if url.scheme() != "https" => {
            return Err(BuildError::config(
                "credentials of type tls_cert need https",
            ));
        }
        Some(Credentials::TlsCert(tls)) => Some(tls),
        _ => None,
    };
    let client = client(tls)?;
    let mut request = client.request(method, url);
    for (name, value) in config.texts("headers")? {
        request = header(request, name, value)?;
    }
    request = match credentials {
        None
        | Some(Credentials::TlsCert(_))
        | Some(Credentials::ApiKey {
            place: KeyPlace::Query,
            ..
        }) => request,
        Some(Credentials::ApiKey { key, value, .. }) => header(request, &key, &value)?,
        Some(Credentials::TokenAuth { token }) => request.bearer_auth(token),
        Some(Credentials::BasicAuth {
            username,
            password,
            headers,
        }) => {
            let request = request.basic_auth(username, Some(password));
            headers.iter().try_fold(request, |request, line| {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                header(request, name.trim(), value.trim())
            })?
        }
        Some(Credentials::Oidc(secret)) => {
            let token = token(&client, &secret, guard.as_ref(), hosts).await?;
            request.bearer_auth(token)
        }
        Some(other) => return Err(other.unsupported("HTTP")),
    };
    match config.text("body")? {
        "" => {}
        body => request = request.body(body.to_owned()),
    }
    body(send(request).await?, limit).await
}

/// Parses a URL that may be requested.
///
/// # Errors
/// When it is not an http or https URL, contains a user or password, or its host is not allowed.
pub(super) fn address(text: &str, what: &str, hosts: &AllowedHosts) -> Result<Url, BuildError> {
    let url = Url::parse(text).map_err(|error| BuildError::config(format!("{what}: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BuildError::config(format!(
            "{what} must begin with http:// or https://"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BuildError::config(format!(
            "{what} must hold neither user nor password; secrets are for that"
        )));
    }
    check_host(
        hosts,
        url.host_str().unwrap_or_default(),
        url.port_or_known_default(),
    )?;
    Ok(url)
}

/// Creates a client that follows redirects only to the same host.
pub(super) fn client(tls: Option<&TlsCert>) -> Result<Client, BuildError> {
    let policy = redirect::Policy::custom(|attempt| {
        let origin = |url: &Url| {
            (
                url.scheme().to_owned(),
                url.host_str().map(str::to_owned),
                url.port_or_known_default(),
            )
        };
        let first = attempt.previous().first().map(origin);
        if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("too many redirections")
        } else if first == Some(origin(attempt.url())) {
            attempt.follow()
        } else {
            attempt.error("a redirection to another host")
        }
    });
    let mut client = Client::builder()
        .redirect(policy)
        .referer(false)
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT_TIMEOUT);
    if let Some(tls) = tls {
        let (authorities, identity) = tls.read()?;
        if !authorities.is_empty() {
            client = client.tls_certs_only(authorities);
        }
        if let Some(identity) = identity {
            client = client.identity(identity);
        }
    }
    client
        .build()
        .map_err(|failure| BuildError::sync(cause(failure)))
}

fn header(request: RequestBuilder, name: &str, value: &str) -> Result<RequestBuilder, BuildError> {
    let refused = || {
        BuildError::config(format!(
            "invalid header `{name}`: expected a token and a value of visible characters"
        ))
    };
    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
    value.set_sensitive(true);
    check_header(key.as_str())?;
    Ok(request.header(key, value))
}

/// Refuses a header that only the server itself may set.
pub(super) fn check_header(name: &str) -> Result<(), BuildError> {
    match FRAMING_HEADERS
        .iter()
        .any(|reserved| name.eq_ignore_ascii_case(reserved))
    {
        true => Err(BuildError::config(format!("header `{name}` cannot be set"))),
        false => Ok(()),
    }
}

async fn send(request: RequestBuilder) -> Result<Response, BuildError> {
    let response = request.send().await;
    let response = response.map_err(|failure| BuildError::sync(cause(failure)))?;
    match response.status() {
        status if status.is_success() => Ok(response),
        status => Err(BuildError::sync(format!("the server answered {status}"))),
    }
}

async fn body(mut response: Response, limit: u64) -> Result<Vec<u8>, BuildError> {
    let mut bytes = Vec::new();
    loop {
        let chunk = response.chunk().await;
        match chunk.map_err(|failure| BuildError::sync(cause(failure)))? {
            None => return Ok(bytes),
            Some(chunk) if (bytes.len() + chunk.len()) as u64 > limit => {
                return Err(BuildError::sync(format!(
                    "the answer has more than {limit} bytes"
                )));
            }
            Some(chunk) => bytes.extend_from_slice(&chunk),
        }
    }
}

/// Fields of discovery documents and token responses.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct TokenResponse {
    token_endpoint: String,
    access_token: String,
}

/// Requests a token with client credentials.
async fn token(
    client: &Client,
    secret: &ClientCredentials,
    guard: Option<&SecretAllowlist>,
    hosts: &AllowedHosts,
) -> Result<String, BuildError> {
    let check_address = |text: &str, what: &str| {
        let url = address(text, what, hosts)?;
        let checked = guard.map_or(Ok(()), |guard| guard.check_url(&url));
        checked.map_err(|reason| BuildError::config(format!("{what}: {reason}")))?;
        Ok::<Url, BuildError>(url)
    };
    let mut endpoint = secret.token_endpoint.clone();
    if endpoint.is_empty() {
        let issuer = secret.issuer.trim_end_matches('/');
        let discovery = format!("{issuer}/.well-known/openid-configuration");
        // The discovery document determines where the secret is sent, so its host is checked, too.
        let discovery = check_address(&discovery, "issuer")?;
        endpoint = send_for_json::<TokenResponse>(client.get(discovery))
            .await?
            .token_endpoint;
    }
    let endpoint = check_address(&endpoint, "token_endpoint")?;
    let escape = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let mut form = "grant_type=client_credentials".to_owned();
    if !secret.scopes.is_empty() {
        form.push_str("&scope=");
        form.push_str(&escape(&secret.scopes.join(" ")));
    }
    let request = client
        .post(endpoint)
        .basic_auth(
            escape(&secret.client_id),
            Some(escape(&secret.client_secret)),
        )
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form);
    match send_for_json::<TokenResponse>(request).await?.access_token {
        token if token.is_empty() => Err(BuildError::sync("the token endpoint gave no token")),
        token => Ok(token),
    }
}

/// Sends a token request and parses the response.
pub(super) async fn send_for_json<T: DeserializeOwned>(
    request: RequestBuilder,
) -> Result<T, BuildError> {
    let bytes = body(send(request).await?, MAX_TOKEN_BYTES).await?;
    let refused =
        |_| BuildError::sync("the answer about tokens is not the JSON object it should be");
    serde_json::from_slice(&bytes).map_err(refused)
}

/// Formats an error without the URL, whose query may be secret.
fn cause(failure: reqwest::Error) -> String {
    super::with_causes(&failure.without_url())
}
