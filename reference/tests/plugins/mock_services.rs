//! Mock server of remote services: it sends configured responses, and records requests.

use std::collections::BTreeMap;
use std::future::ready;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::header::{CONTENT_ENCODING, IF_NONE_MATCH};
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use test_server::{Request, Response, TestServer, empty, header, respond};
use tokio_rustls::TlsAcceptor;

use crate::environment::Done;

/// Configured response to requests for a path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fixture {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    /// ETag; a request with this ETag in `If-None-Match` gets 304.
    pub(crate) etag: Option<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Fixture {
    /// Creates a response with a body and an ETag.
    pub(crate) fn of(body: Vec<u8>, etag: &str) -> Self {
        Self {
            body,
            etag: Some(format!("\"{etag}\"")),
            ..Self::default()
        }
    }

    /// Creates a response with a status only.
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// Recorded request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// Decompressed body: as JSON, or null if it is invalid; and as a string.
    pub(crate) body: Value,
    pub(crate) text: String,
    /// Length of the body before decompression.
    pub(crate) length: usize,
}

impl ReceivedRequest {
    /// Returns a header as a string.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

#[derive(Debug, Default)]
struct State {
    fixtures: BTreeMap<String, Fixture>,
    /// Status of responses to POST requests for paths without a configured response.
    posts: StatusCode,
    seen: Vec<ReceivedRequest>,
}

/// Running mock server, stopped when dropped.
#[derive(Debug)]
pub(crate) struct MockServices {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    _server: TestServer,
}

impl MockServices {
    pub(crate) async fn start() -> std::io::Result<Self> {
        Self::start_with(None).await
    }

    /// Starts a server, with TLS if configured.
    pub(crate) async fn start_with(tls: Option<TlsAcceptor>) -> std::io::Result<Self> {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let answer = move |request| ready(locked(&shared).answer(&request));
        let server = TestServer::start_with(tls, answer).await?;
        Ok(Self {
            address: server.address(),
            state,
            _server: server,
        })
    }

    /// Sets the response to requests for a path.
    pub(crate) fn put(&self, path: &str, fixture: Fixture) {
        self.state().fixtures.insert(path.to_owned(), fixture);
    }

    /// Sets the status of responses to POST requests for paths without a configured response.
    pub(crate) fn answer_posts(&self, status: u16) {
        self.state().posts = StatusCode::from_u16(status).unwrap_or_default();
    }

    /// Returns the received requests for a path.
    pub(crate) fn seen(&self, path: &str) -> Vec<ReceivedRequest> {
        let state = self.state();
        let seen = state.seen.iter().filter(|seen| seen.path == path);
        seen.cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn answer(&mut self, request: &Request) -> Response {
        let mut decompressed = Vec::new();
        let is_compressed = request.headers().contains_key(CONTENT_ENCODING);
        let body = request.body();
        let text = match flate2::read::GzDecoder::new(&**body).read_to_end(&mut decompressed) {
            Ok(_) if is_compressed => decompressed,
            _ => body.to_vec(),
        };
        self.seen.push(ReceivedRequest {
            path: request.uri().path().to_owned(),
            headers: request.headers().clone(),
            body: serde_json::from_slice(&text).unwrap_or_default(),
            text: String::from_utf8_lossy(&text).into_owned(),
            length: body.len(),
        });
        let Some(fixture) = self.fixtures.get(request.uri().path()) else {
            let status = match *request.method() {
                Method::POST => self.posts,
                _ => StatusCode::NOT_FOUND,
            };
            return empty(status.as_u16());
        };
        let headers = fixture.headers.iter();
        let mut headers: Vec<_> = headers
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let known = header(request, IF_NONE_MATCH.as_str());
        match fixture.etag.as_deref() {
            Some(etag) if known == etag => respond(304, &headers, ""),
            etag => {
                headers.extend(etag.map(|etag| ("etag", etag)));
                respond(fixture.status.as_u16(), &headers, fixture.body.clone())
            }
        }
    }
}

/// Creates a bundle archive of files.
pub(crate) fn bundle(files: &[(&str, &str)]) -> Done<Vec<u8>> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, text.as_bytes())?;
    }
    Ok(archive.into_inner()?.finish()?)
}
