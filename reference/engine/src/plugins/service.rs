//! Requests to services.

use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION,
    USER_AGENT,
};
use http::{Method, StatusCode};
use reqwest::Url;

use super::connector::{Connector, cause};
use super::credentials::Credentials;
use crate::config::Service;
use http_server::telemetry::Current;

/// Default timeout for the head of a response.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for the body of a response.
const TRANSFER: Duration = Duration::from_secs(600);

/// Maximum number of redirects that a request follows.
const MAX_REDIRECTS: usize = 10;

/// Error of a request to a service.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServiceError {
    /// There was no response, or an unusable one.
    #[error("request failed: {0}")]
    Failed(String),
    /// The response has an unsuccessful status.
    #[error("server replied with {}", reason(*.0))]
    Status(StatusCode),
}

impl ServiceError {
    /// Status of the response, if there was one.
    pub(super) fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Failed(_) => None,
            Self::Status(status) => Some(*status),
        }
    }

    pub(super) fn failed(reason: impl ToString) -> Self {
        Self::Failed(reason.to_string())
    }
}

fn reason(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => reason.to_owned(),
        None => status.as_u16().to_string(),
    }
}

/// Response with its whole body.
#[derive(Debug)]
pub(super) struct ServiceResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Body after decompression.
    pub(super) body: Bytes,
}

/// Authentication of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum AuthHeader<'p> {
    /// Headers and credentials of the service.
    Service,
    /// Credentials only, for the authorization server that the service refers to.
    Credentials,
    /// Headers, and a token that was issued for the credentials.
    Token(&'p HeaderValue),
}

/// HTTP client of one service.
#[derive(Debug)]
pub(super) struct Client {
    connector: Connector,
    url: String,
    is_registry: bool,
    headers: HeaderMap,
    timeout: Duration,
    credentials: Credentials,
    telemetry: Current,
}

impl Client {
    /// Creates a client for a service; its requests have spans if tracing is configured.
    ///
    /// # Errors
    /// When a file that the configuration names cannot be used, or a header is malformed.
    pub(super) fn new(service: &Service, telemetry: &Current) -> Result<Self, String> {
        let connector = Connector::new(service)?;
        Ok(Self {
            url: service.url.trim_end_matches('/').to_owned(),
            is_registry: service.is_registry(),
            headers: headers(service)?,
            timeout: service
                .response_header_timeout_seconds
                .map_or(HEAD_TIMEOUT, |timeout| timeout.0),
            credentials: Credentials::new(service, &connector.client()),
            connector,
            telemetry: telemetry.clone(),
        })
    }

    /// Whether the service is an OCI registry.
    pub(super) fn is_registry(&self) -> bool {
        self.is_registry
    }

    /// Requests a resource of at most `limit` bytes, see [`get_at`](Self::get_at).
    ///
    /// # Errors
    /// Those of [`get_at`](Self::get_at).
    pub(super) async fn get(
        &self,
        resource: &str,
        headers: &HeaderMap,
        wait: Duration,
        limit: usize,
    ) -> Result<ServiceResponse, ServiceError> {
        let url = self.address(resource)?;
        self.get_at(url, headers, AuthHeader::Service, wait, limit)
            .await
    }

    /// Requests at most `limit` bytes from a URL. Redirects are followed; authentication is sent
    /// only to the origin of the URL.
    ///
    /// # Errors
    /// When there is no response within the timeout plus `wait`, or it is too long. A response of
    /// any status but a redirect is returned.
    pub(super) async fn get_at(
        &self,
        origin: Url,
        headers: &HeaderMap,
        proof: AuthHeader<'_>,
        wait: Duration,
        limit: usize,
    ) -> Result<ServiceResponse, ServiceError> {
        let mut url = origin.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = reqwest::Request::new(Method::GET, url.clone());
            *request.headers_mut() = headers.clone();
            let gzip = HeaderValue::from_static("gzip");
            request.headers_mut().insert(ACCEPT_ENCODING, gzip);
            if url.origin() == origin.origin() {
                self.prove(&mut request, proof).await?;
            }
            let response = self.send(request, wait).await?;
            match target(&url, &response)? {
                Some(next) => url = next,
                None => {
                    let received =
                        tokio::time::timeout(TRANSFER, read_to_end(response, limit)).await;
                    let late = |_| Err(ServiceError::failed("the answer takes too long"));
                    return received.unwrap_or_else(late);
                }
            }
        }
        Err(ServiceError::failed("stopped after too many redirects"))
    }

    /// Posts a body to a resource.
    ///
    /// # Errors
    /// When there is no response in time, or its status is unsuccessful.
    pub(super) async fn post(
        &self,
        resource: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<(), ServiceError> {
        let mut request = reqwest::Request::new(Method::POST, self.address(resource)?);
        *request.headers_mut() = headers.clone();
        *request.body_mut() = Some(body.into());
        self.prove(&mut request, AuthHeader::Service).await?;
        let status = self.send(request, Duration::ZERO).await?.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(ServiceError::Status(status)),
        }
    }

    fn address(&self, resource: &str) -> Result<Url, ServiceError> {
        let text = format!("{}/{}", self.url, resource.trim_start_matches('/'));
        Url::parse(&text).map_err(ServiceError::failed)
    }

    /// URL of a path on the service's host.
    ///
    /// # Errors
    /// When the URL of the service is invalid.
    pub(super) fn at_host(&self, path: &str) -> Result<Url, ServiceError> {
        let mut url = Url::parse(&self.url).map_err(ServiceError::failed)?;
        url.set_path(path);
        url.set_query(None);
        Ok(url)
    }

    /// Adds the authentication `proof` to a request.
    async fn prove(
        &self,
        request: &mut reqwest::Request,
        proof: AuthHeader<'_>,
    ) -> Result<(), ServiceError> {
        if !matches!(proof, AuthHeader::Credentials) {
            for (name, value) in &self.headers {
                request.headers_mut().insert(name, value.clone());
            }
        }
        if let AuthHeader::Token(token) = proof {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
            return Ok(());
        }
        let proven = self.credentials.add(request).await;
        proven.map_err(ServiceError::Failed)
    }

    async fn send(
        &self,
        mut request: reqwest::Request,
        wait: Duration,
    ) -> Result<reqwest::Response, ServiceError> {
        let agent = concat!("reference/", env!("CARGO_PKG_VERSION"));
        let headers = request.headers_mut();
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(agent));
        let span = self.telemetry.get().map(|telemetry| {
            let (method, url) = (request.method().clone(), request.url().clone());
            telemetry.client(&method, &url, request.headers_mut())
        });
        let sent = self.connector.client().execute(request);
        let outcome = match tokio::time::timeout(self.timeout + wait, sent).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(failure)) => Err(ServiceError::Failed(cause(&failure))),
            Err(_) => Err(ServiceError::failed("no answer in time")),
        };
        match (&span, &outcome) {
            (Some(span), Ok(response)) => span.answered(response.status(), response.version()),
            (Some(span), Err(error)) => span.failed(error.to_string()),
            (None, _) => {}
        }
        outcome
    }
}

fn headers(service: &Service) -> Result<HeaderMap, String> {
    let headers = service.headers.iter().map(|(name, value)| {
        let wrong = || format!("service `{}`: header `{name}` cannot be sent", service.name);
        let value = HeaderValue::from_str(&value.0).map_err(|_| wrong())?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        Ok((name, value))
    });
    headers.collect()
}

/// URL of a redirect, if the response is one. HTTPS is never downgraded to HTTP.
fn target(url: &Url, response: &reqwest::Response) -> Result<Option<Url>, ServiceError> {
    let status = response.status();
    if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let next = location.and_then(|location| url.join(location).ok());
    match next.filter(|next| next.scheme() == "https" || url.scheme() == "http") {
        Some(next) => Ok(Some(next)),
        None => Err(ServiceError::Status(status)),
    }
}

async fn read_to_end(
    mut response: reqwest::Response,
    limit: usize,
) -> Result<ServiceResponse, ServiceError> {
    let too_long = || ServiceError::Failed(format!("the answer is longer than {limit} bytes"));
    let mut body = Vec::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|failure| ServiceError::Failed(cause(&failure)))?
    {
        if body.len().saturating_add(piece.len()) > limit {
            return Err(too_long());
        }
        body.extend_from_slice(&piece);
    }
    let headers = std::mem::take(response.headers_mut());
    if headers
        .get(CONTENT_ENCODING)
        .is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"gzip"))
    {
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let mut decoded = Vec::new();
        let decoder = flate2::read::MultiGzDecoder::new(body.as_slice());
        let read = decoder.take(most).read_to_end(&mut decoded);
        read.map_err(ServiceError::failed)?;
        if decoded.len() > limit {
            return Err(too_long());
        }
        body = decoded;
    }
    Ok(ServiceResponse {
        status: response.status(),
        headers,
        body: Bytes::from(body),
    })
}
