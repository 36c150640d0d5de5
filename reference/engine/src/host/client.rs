//! HTTP requests of policies.

use std::error::Error as _;
use std::io::ErrorKind;
use std::sync::LazyLock;
use std::sync::mpsc::channel;

use rego::host::{Cancellation, HostError, HttpRequest, HttpResponse};
use reqwest::{Client, Request};
use tokio::runtime::Runtime;

use super::{block_on, connection};
use http_server::telemetry::{ClientSpan, RequestSpan};

/// Runtime on a separate thread for requests, as evaluations run where they cannot await I/O.
static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().ok()
});

/// Sends a request, as part of a span if there is one, and waits for its response.
pub(super) fn send(
    mut request: HttpRequest,
    span: Option<&RequestSpan>,
    check_cancelled: Cancellation<'_>,
) -> Result<HttpResponse, HostError> {
    let client = connection::client(&mut request)?;
    let Some(runtime) = RUNTIME.as_ref() else {
        return Err(HostError::Broken("no threads can be started".to_owned()));
    };
    let span = span.map(|span| span.client(&request.method, &request.url, &mut request.headers));
    let (sent, received) = channel();
    let task = runtime.spawn(async move {
        let timeout = request.timeout;
        let received = receive(client, request, span.as_ref());
        let outcome = match timeout {
            None => received.await,
            Some(timeout) => tokio::time::timeout(timeout, received)
                .await
                .unwrap_or(Err(HostError::TimedOut)),
        };
        if let (Some(span), Err(error)) = (&span, &outcome) {
            span.failed(format!("{error:?}"));
        }
        // The span ends before the evaluation continues.
        let _ = { span };
        sent.send(outcome).ok();
    });
    let outcome = block_on::receive(&received, check_cancelled).inspect_err(|_| task.abort())?;
    let broken = || Err(HostError::Broken("the request was aborted".to_owned()));
    outcome.unwrap_or_else(broken)
}

async fn receive(
    client: Client,
    request: HttpRequest,
    span: Option<&ClientSpan>,
) -> Result<HttpResponse, HostError> {
    let max_body = request.max_body;
    let mut sent = Request::new(request.method, request.url);
    *sent.headers_mut() = request.headers;
    *sent.body_mut() = request.body.map(Into::into);
    let mut response = client.execute(sent).await.map_err(|wrong| cause(&wrong))?;
    let code = response.status();
    if let Some(span) = span {
        span.answered(code, response.version());
    }
    let reason = response.extensions().get::<hyper::ext::ReasonPhrase>();
    let reason = match reason {
        Some(reason) => String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        None => code.canonical_reason().unwrap_or_default().to_owned(),
    };
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let headers = headers.collect();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|wrong| cause(&wrong))? {
        if body.len() + piece.len() > max_body {
            return Err(HostError::TooLong);
        }
        body.extend_from_slice(&piece);
    }
    Ok(HttpResponse {
        code: code.as_u16(),
        reason,
        headers,
        body,
    })
}

/// Converts an error, with the innermost cause as its message.
fn cause(wrong: &reqwest::Error) -> HostError {
    let mut reason = wrong.to_string();
    let mut next = wrong.source();
    while let Some(inner) = next {
        if let Some(io) = inner.downcast_ref::<std::io::Error>()
            && io.kind() == ErrorKind::ConnectionRefused
        {
            return HostError::ConnectionRefused;
        }
        reason = inner.to_string();
        next = inner.source();
    }
    if wrong.is_connect() && reason.contains("lookup") {
        return HostError::NoSuchHost;
    }
    HostError::Broken(reason)
}
