//! A server that plays what the engine talks to: it answers as it is told, and keeps what it is
//! asked.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::world::Done;

/// What is answered to requests for a path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    /// The version; a request that names it is answered 304.
    pub(crate) etag: Option<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Shelf {
    /// A body in a version.
    pub(crate) fn of(body: Vec<u8>, etag: &str) -> Self {
        Self {
            body,
            etag: Some(format!("\"{etag}\"")),
            ..Self::default()
        }
    }

    /// Nothing but a status.
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The body, decompressed, if it is JSON, and as text.
    pub(crate) body: Value,
    pub(crate) text: String,
    /// The length of the body as it came.
    pub(crate) length: usize,
}

impl Seen {
    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

#[derive(Debug, Default)]
struct Told {
    shelves: BTreeMap<String, Shelf>,
    /// What POSTs for other paths are answered.
    posts: StatusCode,
    seen: Vec<Seen>,
}

/// The server. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Depot {
    pub(crate) address: SocketAddr,
    told: Arc<Mutex<Told>>,
    _stop: watch::Sender<()>,
}

impl Depot {
    pub(crate) async fn start() -> std::io::Result<Self> {
        Self::start_with(None).await
    }

    /// A server that speaks TLS if it is told how.
    pub(crate) async fn start_with(tls: Option<TlsAcceptor>) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let told = Arc::new(Mutex::new(Told::default()));
        let (stop, mut stopped) = watch::channel(());
        let shared = Arc::clone(&told);
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let stream = tokio::select! {
                    _ = stopped.changed() => return,
                    Ok((stream, _)) = listener.accept() => stream,
                };
                let (shared, tls) = (Arc::clone(&shared), tls.clone());
                connections.spawn(async move {
                    match tls {
                        None => serve(shared, stream).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(shared, stream).await;
                            }
                        }
                    }
                });
            }
        });
        Ok(Self {
            address,
            told,
            _stop: stop,
        })
    }

    /// Puts something where it can be downloaded.
    pub(crate) fn put(&self, path: &str, shelf: Shelf) {
        self.told().shelves.insert(path.to_owned(), shelf);
    }

    /// Has POSTs for paths where there is nothing answered with a status.
    pub(crate) fn answer_posts(&self, status: u16) {
        self.told().posts = StatusCode::from_u16(status).unwrap_or_default();
    }

    /// The requests for a path that came.
    pub(crate) fn seen(&self, path: &str) -> Vec<Seen> {
        let told = self.told();
        let seen = told.seen.iter().filter(|seen| seen.path == path);
        seen.cloned().collect()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve<I>(told: Arc<Mutex<Told>>, stream: I)
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(move |request| answer(Arc::clone(&told), request));
    let http = hyper::server::conn::http1::Builder::new();
    let served = http.serve_connection(TokioIo::new(stream), service).await;
    // A client that goes away is no failure.
    served.ok();
}

async fn answer(
    told: Arc<Mutex<Told>>,
    request: hyper::Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes());
    let body = body.unwrap_or_default();
    let mut plain = Vec::new();
    let packed = parts.headers.contains_key(CONTENT_ENCODING);
    let text = match flate2::read::GzDecoder::new(&*body).read_to_end(&mut plain) {
        Ok(_) if packed => plain,
        _ => body.to_vec(),
    };
    let seen = Seen {
        path: parts.uri.path().to_owned(),
        headers: parts.headers.clone(),
        body: serde_json::from_slice(&text).unwrap_or_default(),
        text: String::from_utf8_lossy(&text).into_owned(),
        length: body.len(),
    };
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    told.seen.push(seen);
    let mut response = Response::new(Full::default());
    let Some(shelf) = told.shelves.get(parts.uri.path()) else {
        *response.status_mut() = match parts.method {
            Method::POST => told.posts,
            _ => StatusCode::NOT_FOUND,
        };
        return Ok(response);
    };
    *response.status_mut() = shelf.status;
    for (name, value) in &shelf.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(*name, value);
        }
    }
    let asked = parts.headers.get(IF_NONE_MATCH);
    let asked = asked.and_then(|etag| etag.to_str().ok());
    match &shelf.etag {
        Some(etag) if asked == Some(etag) => *response.status_mut() = StatusCode::NOT_MODIFIED,
        etag => {
            if let Some(etag) = etag.as_ref().and_then(|etag| etag.parse().ok()) {
                response.headers_mut().insert(ETAG, etag);
            }
            *response.body_mut() = Full::new(Bytes::from(shelf.body.clone()));
        }
    }
    Ok(response)
}

/// A bundle of these files.
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
