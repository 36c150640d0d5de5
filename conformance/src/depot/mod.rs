//! The depot: the other side that the suite runs for an engine, one for each server that is
//! told of it. It serves bundles and takes decision logs and status messages.
//!
//! What the engine asks:
//!
//! | request | answer |
//! |---|---|
//! | `GET /PATH` | what is shelved under the path, with its ETag; 304 when that is the same; 404 when there is nothing |
//! | `POST /logs`, `POST /logs/…` | 200; the events of the array, which may be gzip-encoded, are kept |
//! | `POST /status`, `POST /status/…` | 200; the message is kept |
//!
//! What scenarios ask, as any other request of theirs:
//!
//! | request | answer |
//! |---|---|
//! | `PUT /shelf/PATH` | shelves what the body says (see [`shelf::Item`]); the same again changes nothing |
//! | `GET /taken/PATH` | how each request for the path was answered: `{"answer": "bundle", "status": 200}` |
//! | `GET /received/logs` | every decision log event |
//! | `GET /received/status` | every status message |
//!
//! The lists take parameters: only items whose members have these values are in the answer.

mod archive;
mod shelf;
mod sink;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};

use crate::answer::BODY_LIMIT;
use crate::client::Base;
use crate::runner::lock;
use shelf::{Found, Shelf};
use sink::Sink;

/// How long a request for something that is held back waits.
const HELD_FOR: Duration = Duration::from_secs(30);
/// How long the head of a request may take, and how long its body.
const ARRIVES_WITHIN: Duration = Duration::from_secs(30);
/// Connections that are served at the same time; further ones wait.
const CONNECTIONS: usize = 256;
/// How long the listener rests when the system cannot give it a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running depot; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Depot {
    pub(crate) base: Base,
    listener: JoinHandle<()>,
}

/// What the depot holds.
#[derive(Debug)]
struct Stock {
    shelf: Mutex<Shelf>,
    sink: Mutex<Sink>,
    /// Told of each change of the shelf.
    changes: watch::Sender<()>,
}

impl Depot {
    /// Starts a depot at an address; port 0 is any free one.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub(crate) async fn start(address: SocketAddr) -> Result<Self, String> {
        let named = |error: std::io::Error| format!("no depot at {address}: {error}");
        let listener = TcpListener::bind(address).await.map_err(named)?;
        let bound = listener.local_addr().map_err(named)?;
        let stock = Arc::new(Stock {
            shelf: Mutex::default(),
            sink: Mutex::default(),
            changes: watch::Sender::new(()),
        });
        Ok(Self {
            base: Base::parse(&format!("http://{bound}"))?,
            listener: tokio::spawn(listen(listener, stock)),
        })
    }
}

impl Drop for Depot {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Takes connections; those that are open end with it.
async fn listen(listener: TcpListener, stock: Arc<Stock>) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if open.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    open.spawn(serve(stream, Arc::clone(&stock)));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = open.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, stock: Arc<Stock>) {
    let service = service_fn(|request| {
        let stock = Arc::clone(&stock);
        async move { Ok::<_, Infallible>(stock.answer(request).await) }
    });
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVES_WITHIN);
    // A client that goes away ends its own connection only.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

impl Stock {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let limit = usize::try_from(BODY_LIMIT).unwrap_or(usize::MAX);
        let whole = timeout(ARRIVES_WITHIN, Limited::new(body, limit).collect()).await;
        let Ok(Ok(body)) = whole else {
            return refused("the body cannot be read, or is too large");
        };
        let body = body.to_bytes();
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let query = head.uri.query().unwrap_or_default();
        let path = head.uri.path().trim_start_matches('/');
        let (room, below) = path.split_once('/').unwrap_or((path, ""));
        match (&head.method, room) {
            (&Method::PUT, "shelf") => self.shelve(below, &body),
            (&Method::GET, "taken") => listed(lock(&self.shelf).taken(below), query),
            (&Method::GET, "received") => match lock(&self.sink).received(below) {
                Some(items) => listed(items, query),
                None => plain(StatusCode::NOT_FOUND),
            },
            (&Method::POST, "logs" | "status") => {
                let kept = lock(&self.sink).keep(room, header(CONTENT_ENCODING), &body);
                kept.map_or_else(
                    |why| refused(&why),
                    |()| json(&Value::Object(Default::default())),
                )
            }
            (&Method::GET, _) => self.take(path, header(IF_NONE_MATCH)).await,
            _ => plain(StatusCode::NOT_FOUND),
        }
    }

    fn shelve(&self, path: &str, body: &Bytes) -> Response<Full<Bytes>> {
        let shelved = serde_json::from_slice(body)
            .map_err(|error| error.to_string())
            .and_then(|item| lock(&self.shelf).put(path, item));
        match shelved {
            Ok(()) => {
                self.changes.send_replace(());
                plain(StatusCode::NO_CONTENT)
            }
            Err(why) => refused(&why),
        }
    }

    /// Answers an engine's request for a path, once it is not held back.
    async fn take(&self, path: &str, tag: Option<&str>) -> Response<Full<Bytes>> {
        let mut changes = self.changes.subscribe();
        let end = Instant::now() + HELD_FOR;
        let mut held = false;
        loop {
            let found = lock(&self.shelf).take(path, tag, held);
            match found {
                Found::Bytes(bytes, tag) => return archive(bytes, &tag),
                Found::Status(status) => {
                    return plain(StatusCode::from_u16(status).unwrap_or(StatusCode::NOT_FOUND));
                }
                Found::Held => held = true,
            }
            if !matches!(timeout_at(end, changes.changed()).await, Ok(Ok(()))) {
                return plain(StatusCode::SERVICE_UNAVAILABLE);
            }
        }
    }
}

/// The items that have all members of the query.
fn listed<'a>(items: impl IntoIterator<Item = &'a Value>, query: &str) -> Response<Full<Bytes>> {
    let wanted: Vec<(String, String)> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    let has = |item: &Value| {
        wanted.iter().all(|(name, value)| {
            let found = match item.get(name) {
                Some(Value::String(text)) => Some(text.clone()),
                other => other.map(Value::to_string),
            };
            found.as_ref() == Some(value)
        })
    };
    let items = items.into_iter().filter(|item| has(item)).cloned();
    json(&Value::Array(items.collect()))
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

fn refused(why: &str) -> Response<Full<Bytes>> {
    let mut response = json(&Value::String(why.to_owned()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

fn json(value: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(value.to_string()));
    let media_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn archive(bytes: Bytes, tag: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    headers.extend(HeaderValue::from_str(tag).map(|tag| (ETAG, tag)));
    response
}

#[cfg(test)]
mod tests;
