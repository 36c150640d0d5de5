//! Connection to a collector.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, TE};
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use opentelemetry_http::{HttpClient, HttpError};
use reqwest::{Certificate, Client, Identity, redirect};
use tokio::runtime::Handle;
use tracing::{info, warn};

use super::grpc;
use super::settings::{Encryption, Settings, Transport};

/// Maximum bytes of a response, of which only a short message is used.
const ANSWER: usize = 64 << 10;

/// Sends spans to a collector, and logs when sending begins to fail and when it works again.
#[derive(Debug, Clone)]
pub(super) struct Collector(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    transport: Transport,
    timeout: Duration,
    /// Runtime that sends requests, as the library exports spans on a thread without a runtime.
    runtime: Handle,
    fails: AtomicBool,
}

impl Collector {
    /// Creates the client for the collector that the settings name.
    ///
    /// # Errors
    /// When a file in the settings cannot be used.
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(Inner {
            client: client(settings)?,
            transport: settings.transport,
            timeout: settings.export_timeout,
            runtime,
            fails: AtomicBool::new(false),
        })))
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let inner = Arc::clone(&self.0);
        let sent = self.0.runtime.spawn(async move {
            let sent = tokio::time::timeout(inner.timeout, inner.send(request)).await;
            let sent = sent.unwrap_or_else(|_| Err("no answer in time".into()));
            inner.log_failure(&sent);
            sent
        });
        sent.await?
    }
}

impl Inner {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = match self.transport {
            Transport::Http => request,
            Transport::Grpc => as_call(request)?,
        };
        let answer = self.client.execute(request.try_into()?).await?;
        let (mut head, body) = Response::from(answer).into_parts();
        let body = Limited::new(body, ANSWER).collect().await?;
        let trailers = body.trailers().cloned();
        let mut body = body.to_bytes();
        if self.transport == Transport::Grpc && head.status.is_success() {
            // A call that fails at once has its status in the headers instead of trailers.
            head.status = grpc::status(trailers.as_ref().unwrap_or(&head.headers));
            body = grpc::message(&body).unwrap_or_default();
        }
        Ok(Response::from_parts(head, body))
    }

    /// Logs when sending spans begins to fail, and when it works again.
    fn log_failure(&self, sent: &Result<Response<Bytes>, HttpError>) {
        let reason = match sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!(
                "the collector responded with status {}",
                answer.status().as_u16()
            )),
            Err(reason) => Some(innermost(reason.as_ref())),
        };
        let failed = self.fails.swap(reason.is_some(), Ordering::Relaxed);
        match reason {
            Some(reason) if !failed => warn!(why = reason, "cannot send spans to the collector"),
            None if failed => info!("spans are sent to the collector again"),
            _ => {}
        }
    }
}

/// Converts an HTTP request to a gRPC call.
fn as_call(request: Request<Bytes>) -> Result<Request<Bytes>, HttpError> {
    let (mut parts, body) = request.into_parts();
    let grpc = HeaderValue::from_static("application/grpc");
    parts.headers.insert(CONTENT_TYPE, grpc);
    parts
        .headers
        .insert(TE, HeaderValue::from_static("trailers"));
    let body = grpc::frame(&body).ok_or("the spans are too long")?;
    Ok(Request::from_parts(parts, body))
}

/// Innermost cause of an error, without the URL.
fn innermost(failure: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = failure;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

fn client(settings: &Settings) -> Result<Client, String> {
    crate::tls_provider::install();
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .tls_danger_accept_invalid_certs(settings.any_certificate);
    if settings.transport == Transport::Grpc {
        builder = builder.http2_prior_knowledge();
    }
    if is_loopback(&settings.address) {
        builder = builder.no_proxy();
    }
    if let Some(file) = &settings.authorities {
        let authorities = Certificate::from_pem_bundle(&read(file)?);
        let authorities = authorities.map_err(|error| format!("`tls_ca_cert_file`: {error}"))?;
        if authorities.is_empty() {
            return Err("there is no certificate in the `tls_ca_cert_file`".to_owned());
        }
        builder = builder.tls_certs_only(authorities);
    }
    if let Some((certificate, key)) = &settings.identity {
        let mut pem = read(certificate)?;
        pem.extend(read(key)?);
        let identity = Identity::from_pem(&pem);
        let identity = identity.map_err(|error| format!("`tls_cert_file`: {error}"))?;
        if settings.encryption == Encryption::MutualTls {
            builder = builder.identity(identity);
        }
    }
    builder.build().map_err(|error| innermost(&error))
}

/// Whether an address is on this machine: a proxy elsewhere cannot connect to it.
fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let parsed = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || parsed.is_ok_and(|address| address.is_loopback())
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("file `{}`: {error}", file.display()))
}
