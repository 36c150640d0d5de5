//! Fixture server: the services that a tested engine or control plane is configured to use. It
//! serves bundles, git repositories and object storage, and receives decision logs and status
//! messages.
//!
//! Requests of the tested servers:
//!
//! | request | response |
//! |---|---|
//! | `GET /PATH` | the fixture of the path, with its ETag; 304 if `If-None-Match` has the same ETag; 404 if there is no fixture |
//! | `POST /logs`, `POST /logs/…` | 200; the events of the array, which may be gzip-encoded, are stored |
//! | `POST /status`, `POST /status/…` | 200; the message is stored |
//! | `PUT /BUCKET/KEY` | stores an object as S3 does, with its `x-amz-meta-…` headers and under the conditions `If-Match` and `If-None-Match`; 200 with its ETag. It is served like a fixture |
//! | `HEAD /BUCKET/KEY`, `DELETE /BUCKET/KEY` | returns the ETag, length and metadata of the stored object; removes the object |
//! | `GET /git/NAME/info/refs`, `POST /git/NAME/git-upload-pack` | the git repository that is the fixture of `git/NAME` |
//!
//! Requests of scenarios, as steps like those to the tested server:
//!
//! | request | response |
//! |---|---|
//! | `PUT /shelf/PATH` | sets the fixture of the path to the body (see [`fixtures::Fixture`]); an equal body changes nothing. For a repository the response has its newest commit: `{"commit": ID}` |
//! | `GET /taken/PATH` | the responses to all requests for the path: `{"answer": "bundle", "status": 200}`; for a repository `{"answer": "references", "commit": ID}`, or `pack` in place of `references` |
//! | `GET /opened/PATH` | the files of the bundle at the path, by their own paths; 404 if there is no bundle |
//! | `GET /received/logs` | every decision log event |
//! | `GET /received/status` | every status message |
//!
//! The last two requests and `GET /taken/PATH` accept query parameters: the response has only the
//! items whose members have these values. The parameter `holds` selects the items that have this
//! string as a value at any depth.

mod archive;
mod auth;
mod fixtures;
mod git;
pub(crate) mod listener;
mod received;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::http_client::Base;
use crate::http_client::answer::BODY_LIMIT;
use crate::sync::lock;
use fixtures::{Fixtures, Lookup};
use listener::ARRIVES_WITHIN;
use received::ReceivedEvents;

/// Maximum time that a request for a held fixture waits.
const MAX_HOLD: Duration = Duration::from_secs(30);

/// A running fixture server, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct FixtureServer {
    pub(crate) base: Base,
    listener: JoinHandle<()>,
}

/// State of the fixture server.
#[derive(Debug)]
struct FixtureState {
    fixtures: Mutex<Fixtures>,
    received: Mutex<ReceivedEvents>,
    /// Notifies held requests of every change of the fixtures.
    changes: watch::Sender<()>,
}

impl FixtureServer {
    /// Starts a fixture server at an address; port 0 means any free port.
    ///
    /// # Errors
    /// The address is not available.
    pub(crate) async fn start(address: SocketAddr) -> Result<Self, String> {
        let named =
            |error: std::io::Error| format!("cannot start a fixture server at {address}: {error}");
        let socket = TcpListener::bind(address).await.map_err(named)?;
        let bound = socket.local_addr().map_err(named)?;
        let state = Arc::new(FixtureState {
            fixtures: Mutex::default(),
            received: Mutex::default(),
            changes: watch::Sender::new(()),
        });
        let answer = move |request| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(state.answer(request).await) }
        };
        Ok(Self {
            base: Base::parse(&format!("http://{bound}"))?,
            listener: tokio::spawn(listener::listen(socket, answer)),
        })
    }
}

impl Drop for FixtureServer {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl FixtureState {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let limit = usize::try_from(BODY_LIMIT).unwrap_or(usize::MAX);
        let collected = timeout(ARRIVES_WITHIN, Limited::new(body, limit).collect()).await;
        let Ok(Ok(body)) = collected else {
            return bad_request("the body cannot be read, or is too large");
        };
        self.answer_to(&head, body.to_bytes()).await
    }

    async fn answer_to(&self, head: &Parts, body: Bytes) -> Response<Full<Bytes>> {
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let query = head.uri.query().unwrap_or_default();
        let path = head.uri.path().trim_start_matches('/');
        let (first, below) = path.split_once('/').unwrap_or((path, ""));
        match (&head.method, first) {
            (&Method::PUT, "shelf") => self.put_fixture(below, &body),
            (&Method::GET, "taken") => list_response(lock(&self.fixtures).requests(below), query),
            (&Method::GET, "opened") => self.open(below),
            (&Method::GET, "received") => match lock(&self.received).list(below) {
                Some(items) => list_response(items, query),
                None => empty_response(StatusCode::NOT_FOUND),
            },
            (&Method::POST, "logs" | "status") => {
                let recorded = lock(&self.received).record(first, header(CONTENT_ENCODING), &body);
                recorded.map_or_else(
                    |reason| bad_request(&reason),
                    |()| json(&Value::Object(Default::default())),
                )
            }
            (&Method::GET | &Method::POST, "git") => {
                self.repository(path, header(CONTENT_ENCODING), &body)
            }
            (&Method::PUT, _) => self.store(path, head, body),
            (&Method::HEAD, _) => match lock(&self.fixtures).stored(path) {
                Some((bytes, headers)) => archive(bytes, headers),
                None => empty_response(StatusCode::NOT_FOUND),
            },
            (&Method::DELETE, _) => {
                lock(&self.fixtures).remove(path);
                empty_response(StatusCode::NO_CONTENT)
            }
            (&Method::GET, _) => self.take(path, &head.headers).await,
            _ => empty_response(StatusCode::NOT_FOUND),
        }
    }

    fn put_fixture(&self, path: &str, body: &Bytes) -> Response<Full<Bytes>> {
        let result = serde_json::from_slice(body)
            .map_err(|error| error.to_string())
            .and_then(|item| lock(&self.fixtures).put(path, item));
        match result {
            Ok(commit) => {
                self.changes.send_replace(());
                commit.map_or_else(
                    || empty_response(StatusCode::NO_CONTENT),
                    |commit| json(&serde_json::json!({ "commit": commit })),
                )
            }
            Err(reason) => bad_request(&reason),
        }
    }

    /// Stores an object; multipart and encoded uploads are not implemented.
    fn store(&self, path: &str, head: &Parts, body: Bytes) -> Response<Full<Bytes>> {
        let query = head.uri.query().unwrap_or_default();
        let coded = head.headers.get(CONTENT_ENCODING);
        if !path.contains('/') || query.contains("uploadId") || coded.is_some() {
            return empty_response(StatusCode::NOT_IMPLEMENTED);
        }
        let stored = lock(&self.fixtures).store(path, &head.headers, body);
        match stored {
            Ok(headers) => {
                self.changes.send_replace(());
                let mut response = empty_response(StatusCode::OK);
                response.headers_mut().extend(headers);
                response
            }
            Err(status) => {
                empty_response(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST))
            }
        }
    }

    /// Responds with the files of the bundle at a path.
    fn open(&self, path: &str) -> Response<Full<Bytes>> {
        let stored = lock(&self.fixtures).stored(path);
        match stored.map(|(bytes, _)| archive::open(&bytes)) {
            Some(Ok(files)) => json(&files),
            Some(Err(reason)) => bad_request(&reason),
            None => empty_response(StatusCode::NOT_FOUND),
        }
    }

    /// Answers a git client's request for the repository at a path.
    fn repository(&self, path: &str, encoding: Option<&str>, body: &[u8]) -> Response<Full<Bytes>> {
        let mut fixtures = lock(&self.fixtures);
        let found = if let Some(prefix) = path.strip_suffix("/info/refs") {
            let repository = fixtures.repository(prefix, "references");
            repository.map(|found| (found.references(), "advertisement"))
        } else if let Some(prefix) = path.strip_suffix("/git-upload-pack") {
            let request = match received::decoded(encoding, body) {
                Ok(request) => request,
                Err(reason) => return bad_request(&reason),
            };
            let repository = fixtures.repository(prefix, "pack");
            repository.and_then(|found| Some((found.upload(&request)?, "result")))
        } else {
            None
        };
        let Some((body, kind)) = found else {
            return empty_response(StatusCode::NOT_FOUND);
        };
        let mut response = Response::new(Full::from(body));
        let kind = HeaderValue::from_str(&format!("application/x-git-upload-pack-{kind}"));
        let headers = response.headers_mut();
        headers.extend(kind.map(|kind| (CONTENT_TYPE, kind)));
        response
    }

    /// Responds with the fixture at a path, once it is no longer held.
    async fn take(&self, path: &str, request: &HeaderMap) -> Response<Full<Bytes>> {
        let mut changes = self.changes.subscribe();
        let end = Instant::now() + MAX_HOLD;
        let mut was_held = false;
        loop {
            let found = lock(&self.fixtures).take(path, request, was_held);
            match found {
                Lookup::Bytes(bytes, headers) => return archive(bytes, headers),
                Lookup::Status(status) => {
                    return empty_response(
                        StatusCode::from_u16(status).unwrap_or(StatusCode::NOT_FOUND),
                    );
                }
                Lookup::Held => was_held = true,
            }
            if !matches!(timeout_at(end, changes.changed()).await, Ok(Ok(()))) {
                return empty_response(StatusCode::SERVICE_UNAVAILABLE);
            }
        }
    }
}

/// Responds with the items that match all parameters of the query.
fn list_response<'a>(
    items: impl IntoIterator<Item = &'a Value>,
    query: &str,
) -> Response<Full<Bytes>> {
    let filters: Vec<(String, String)> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    let matches = |item: &Value| {
        filters.iter().all(|(name, value)| {
            if name == "holds" {
                return holds(item, value);
            }
            let found = match item.get(name) {
                Some(Value::String(text)) => Some(text.clone()),
                other => other.map(Value::to_string),
            };
            found.as_ref() == Some(value)
        })
    };
    let items = items.into_iter().filter(|item| matches(item)).cloned();
    json(&Value::Array(items.collect()))
}

/// Whether a value is this string, or has it as a value at any depth.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => found == text,
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(members) => members.values().any(|item| holds(item, text)),
        _ => false,
    }
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

fn empty_response(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

fn bad_request(reason: &str) -> Response<Full<Bytes>> {
    let mut response = json(&Value::String(reason.to_owned()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

fn json(value: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(value.to_string()));
    let media_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn archive(bytes: Bytes, headers: HeaderMap) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(bytes));
    *response.headers_mut() = headers;
    let media_type = HeaderValue::from_static("application/gzip");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

#[cfg(test)]
mod tests;
