//! HTTP server for tests, on a free loopback port. The server passes each request to a function,
//! sends the response that the function returns, and records the requests.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Request with its complete body.
pub type Request = http::Request<Bytes>;

/// Response with its complete body.
pub type Response = http::Response<Full<Bytes>>;

type Requests = Arc<Mutex<Vec<Request>>>;

/// Test server, which stops and closes its connections when it is dropped.
#[derive(Debug)]
pub struct TestServer {
    address: SocketAddr,
    requests: Requests,
    _listening: JoinSet<()>,
}

impl TestServer {
    /// Starts a server that passes each request to a function and sends the returned response. The
    /// call is completed even if the client disconnects.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start<A, F>(answer: A) -> io::Result<Self>
    where
        A: Fn(Request) -> F + Clone + Send + 'static,
        F: Future<Output = Response> + Send + 'static,
    {
        Self::start_with(None, answer).await
    }

    /// Starts a server like [`TestServer::start`], over TLS if an acceptor is given.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start_with<A, F>(tls: Option<TlsAcceptor>, answer: A) -> io::Result<Self>
    where
        A: Fn(Request) -> F + Clone + Send + 'static,
        F: Future<Output = Response> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let requests = Requests::default();
        let received = Arc::clone(&requests);
        let mut listening = JoinSet::new();
        listening.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, answer) = (tls.clone(), answer.clone());
                let received = Arc::clone(&received);
                connections.spawn(async move {
                    match tls {
                        None => serve(stream, received, answer).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, received, answer).await;
                            }
                        }
                    }
                });
            }
        });
        Ok(Self {
            address,
            requests,
            _listening: listening,
        })
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server: `http://ADDRESS:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the received requests, in the order in which their bodies were complete.
    pub fn requests(&self) -> Vec<Request> {
        locked(&self.requests).clone()
    }
}

fn locked(requests: &Requests) -> std::sync::MutexGuard<'_, Vec<Request>> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve<I, A, F>(stream: I, received: Requests, answer: A)
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    A: Fn(Request) -> F + Clone + Send + 'static,
    F: Future<Output = Response> + Send + 'static,
{
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (received, answer) = (Arc::clone(&received), answer.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let request = Request::from_parts(head, body);
            locked(&received).push(request.clone());
            let answered = tokio::spawn(answer(request)).await;
            Ok::<_, hyper::Error>(answered.unwrap_or_else(|_| empty(500)))
        }
    });
    let http = hyper::server::conn::http1::Builder::new();
    let served = http.serve_connection(TokioIo::new(stream), service).await;
    // A client may disconnect at any time, which is not an error here.
    served.ok();
}

/// Creates a response without a body.
pub fn empty(status: u16) -> Response {
    respond(status, &[], "")
}

/// Creates a response with headers. Invalid header values and statuses are omitted.
pub fn respond(status: u16, headers: &[(&'static str, &str)], body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    for (name, value) in headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(*name, value);
        }
    }
    response
}

/// Formats a request as HTTP/1.1 text, with header names in lower case.
pub fn text(request: &Request) -> String {
    let mut text = format!("{} {} HTTP/1.1\r\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        text += &format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
    }
    text + "\r\n" + &String::from_utf8_lossy(request.body())
}

/// Returns a header as a string; empty if it is absent.
pub fn header<'r>(request: &'r Request, name: &str) -> &'r str {
    let value = request.headers().get(name);
    value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// Returns a function that always returns the same response.
pub fn always(
    response: Response,
) -> impl Fn(Request) -> std::future::Ready<Response> + Clone + Send + 'static {
    move |_| std::future::ready(response.clone())
}
