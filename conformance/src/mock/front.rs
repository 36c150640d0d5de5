//! Recording proxy in front of the mock's servers.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::Shared;
use super::answers::{Closed, MockBody, refused, response};
use super::faults::{Chosen, Ending, HEADER};
use super::recorded;
use crate::faults::{ObservedRequest, Recipient, RequestContext, carry};
use crate::fixture_server::listener::ARRIVES_WITHIN;
use crate::http_client::Base;
use crate::http_client::wire::{Outgoing, Wire};
use crate::sync::lock;

/// Maximum length of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum total size of concurrent request bodies, in KiB; further requests wait.
pub(super) const BODY_BUDGET_KIB: usize = 256 * 1024;
/// Headers for framing and routing on one connection, which are not forwarded.
const FRAMING: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// The methods that the HTTP client knows by name.
const METHODS: [&str; 7] = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"];

/// Status and message of the response to a request whose body was not read.
struct EarlyResponse(StatusCode, &'static str);

impl Shared {
    /// Handles a request to one of the APIs.
    ///
    /// # Errors
    /// A fault closes the connection instead.
    pub(super) async fn answer(
        &self,
        api: Recipient,
        request: Request<Incoming>,
    ) -> Result<Response<MockBody>, Closed> {
        let (head, body) = request.into_parts();
        let read = self.read_body(body).await;
        let body = read
            .as_ref()
            .map_or_else(|_| Bytes::new(), |read| read.0.clone());
        let number = lock(&self.recordings).record(recorded_request(api, &head, body.clone()));
        let response = match &read {
            Ok(_) => self.forward(api, number, &head, body).await?,
            Err(EarlyResponse(status, reason)) => refused(*status, reason),
        };
        let reply = recorded::Reply {
            status: response.status().as_u16(),
            headers: texts(response.headers()),
            body: response.body().bytes(),
        };
        lock(&self.recordings).set_reply(number, reply);
        Ok(response)
    }

    /// Reads the whole body, and reserves memory for it.
    async fn read_body(
        &self,
        body: Incoming,
    ) -> Result<(Bytes, SemaphorePermit<'_>), EarlyResponse> {
        const LONG: EarlyResponse = EarlyResponse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the mock takes bodies of up to 64 MiB",
        );
        let max_size = body.size_hint().upper().unwrap_or(MAX_BODY_BYTES as u64);
        let max_size = usize::try_from(max_size).unwrap_or(usize::MAX);
        if max_size > MAX_BODY_BYTES {
            return Err(LONG);
        }
        let permits = u32::try_from(max_size.div_ceil(1024)).unwrap_or(u32::MAX);
        let permit = self.body_budget.acquire_many(permits).await;
        let Ok(permit) = permit else {
            return Err(EarlyResponse(
                StatusCode::SERVICE_UNAVAILABLE,
                "the mock ends",
            ));
        };
        match timeout(ARRIVES_WITHIN, Limited::new(body, MAX_BODY_BYTES).collect()).await {
            Ok(Ok(collected)) => Ok((collected.to_bytes(), permit)),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(LONG),
            Ok(Err(_)) => Err(EarlyResponse(
                StatusCode::BAD_REQUEST,
                "the body ended before it was whole",
            )),
            Err(_) => Err(EarlyResponse(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not come within 30 s",
            )),
        }
    }

    /// Forwards a request to its server, and alters both sides by the faults.
    async fn forward(
        &self,
        api: Recipient,
        number: u64,
        head: &Parts,
        body: Bytes,
    ) -> Result<Response<MockBody>, Closed> {
        let servers = self.servers();
        let Some(base) = servers.base(api) else {
            return Ok(refused(StatusCode::NOT_FOUND, "there is no such server"));
        };
        let wire = wire(base, head, body);
        // Subscribed before the choice, so that a release directly after it is noticed.
        let mut released = self.released.subscribe();
        let fault_headers = head.headers.get_all(HEADER);
        let chosen = {
            let observed = ObservedRequest::of(&wire, WHO);
            lock(&self.faults).choose(api, &observed, fault_headers)
        };
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(reason) => return Ok(refused(StatusCode::BAD_REQUEST, &reason)),
        };
        lock(&self.recordings).set_faults(number, chosen.names());
        match chosen.ending() {
            Some(Ending::Hang) => {
                // The sender lives as long as this task.
                let _ = released.changed().await;
                return Err(Closed);
            }
            Some(Ending::Close) => return Err(Closed),
            Some(Ending::Cut(_)) | None => {}
        }
        Ok(self.exchange(api, base, &wire, &chosen).await)
    }

    async fn exchange(
        &self,
        api: Recipient,
        base: &Base,
        wire: &Wire,
        chosen: &Chosen,
    ) -> Response<MockBody> {
        let administrator = match api {
            Recipient::Control => Some(format!("Bearer {}", self.options.control_token)),
            Recipient::Engine | Recipient::Mock => None,
        };
        let context = RequestContext {
            client: &self.client,
            recipient: api,
            base,
            who: WHO,
            administrator: administrator.as_deref(),
        };
        let head = matches!(wire, Wire::Http(request) if request.method == "HEAD");
        match carry(chosen.alterations(), context, wire).await {
            Ok(answer) => response(&answer, head, chosen.cut(&answer)),
            Err(error) => {
                let reason = format!("the server behind the mock does not answer: {error}");
                refused(StatusCode::BAD_GATEWAY, &reason)
            }
        }
    }
}

/// Identity of every request, by which faults select requests.
const WHO: &str = "administrator";

/// Returns the name of an API, as used on the admin address.
pub(super) const fn name(api: Recipient) -> &'static str {
    match api {
        Recipient::Control => "control",
        Recipient::Engine => "engine",
        Recipient::Mock => "mock",
    }
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = headers.iter();
    headers
        .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
        .collect()
}

/// Returns path and query as they were on the wire.
fn target(head: &Parts) -> &str {
    head.uri
        .path_and_query()
        .map_or("/", |target| target.as_str())
}

fn recorded_request(api: Recipient, head: &Parts, body: Bytes) -> recorded::Request {
    recorded::Request {
        api: name(api),
        method: head.method.as_str().to_owned(),
        target: target(head).to_owned(),
        headers: texts(&head.headers),
        body,
    }
}

/// Builds the request to the server behind the proxy.
fn wire(base: &Base, head: &Parts, body: Bytes) -> Wire {
    let mut headers = texts(&head.headers);
    headers.retain(|(name, _)| {
        !FRAMING.contains(&name.as_str()) && !name.eq_ignore_ascii_case(HEADER)
    });
    let path = target(head).to_owned();
    let known = METHODS.into_iter().find(|known| *known == head.method);
    if let Some(method) = known {
        return Wire::Http(Outgoing {
            method,
            path,
            headers,
            body,
        });
    }
    let mut text = format!(
        "{} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n",
        head.method,
        base.authority,
        body.len()
    );
    for (name, value) in &headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    Wire::Raw([text.as_bytes(), body.as_ref()].concat())
}
