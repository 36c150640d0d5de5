//! Baseline: a server that only speaks HTTP, and evaluates nothing.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Baseline server, stopped when dropped.
#[derive(Debug)]
pub(super) struct HyperBaseline {
    pub(super) address: SocketAddr,
    _runtime: Runtime,
}

impl HyperBaseline {
    /// Starts a server that reads each request completely and responds with these bytes as JSON.
    ///
    /// # Errors
    /// When threads cannot be created or no port is free.
    pub(super) fn start(answer: &[u8]) -> Result<Self, Box<dyn Error>> {
        let runtime = Runtime::new()?;
        let answer = Bytes::copy_from_slice(answer);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = answer.clone();
                let service = service_fn(move |request: http::Request<Incoming>| {
                    let answer = answer.clone();
                    async move {
                        // Errors of a broken request body are ignored.
                        drop(request.into_body().collect().await);
                        Ok::<_, Infallible>(json(answer))
                    }
                });
                let served = stream.set_nodelay(true).map(|()| {
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service)
                });
                if let Ok(served) = served {
                    tokio::spawn(served);
                }
            }
        });
        Ok(Self {
            address,
            _runtime: runtime,
        })
    }
}

fn json(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
