//! Trivial servers, which implement nothing of the documents: no rule may pass on one.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::http_client::answer::BODY_LIMIT;

/// Path that every trivial server answers, so that the suite considers the server started.
pub(crate) const READY: &str = "/is-there";

/// Behaviour of a trivial server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrivialServer {
    /// 200 with an empty JSON object.
    EmptyObject,
    /// 200 without a body.
    Silent,
    /// 404 with an error object.
    NotFound,
    /// 500 with an error object.
    Failing,
    /// 200 with the request's own body.
    Echo,
    /// 200 with a page of HTML.
    Page,
    /// Accepts the request and never responds.
    Hanging,
    /// Accepts the request and closes the connection.
    Cutting,
}

impl TrivialServer {
    /// All trivial servers.
    pub const ALL: [Self; 8] = [
        Self::EmptyObject,
        Self::Silent,
        Self::NotFound,
        Self::Failing,
        Self::Echo,
        Self::Page,
        Self::Hanging,
        Self::Cutting,
    ];

    /// Describes the behaviour.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EmptyObject => "always 200 and {}",
            Self::Silent => "always 200 without a body",
            Self::NotFound => "always 404",
            Self::Failing => "always 500",
            Self::Echo => "echoes the body",
            Self::Page => "always a page of HTML",
            Self::Hanging => "never answers",
            Self::Cutting => "closes every connection without a response",
        }
    }

    /// Starts the server, which runs until the task is aborted.
    ///
    /// # Errors
    /// No port is available.
    pub(crate) async fn start(self) -> std::io::Result<(SocketAddr, JoinHandle<()>)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok((address, tokio::spawn(self.listen(listener))))
    }

    async fn listen(self, listener: TcpListener) {
        // Dropping the set with the task ends the connections.
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        open.spawn(self.serve(stream));
                    }
                }
                Some(_) = open.join_next() => {}
            }
        }
    }

    async fn serve(self, stream: TcpStream) {
        let service = service_fn(move |request| async move {
            let incoming: &Request<Incoming> = &request;
            match self {
                // Ready, because otherwise the suite would send no request.
                _ if incoming.uri().path() == READY => Ok(Response::default()),
                Self::Hanging => std::future::pending().await,
                // The connection ends with an error, without a response.
                Self::Cutting => Err(std::io::Error::other("cut")),
                _ => Ok(self.answer(request).await),
            }
        });
        let server = auto::Builder::new(TokioExecutor::new());
        // A client that disconnects ends only its own connection.
        let _ = server.serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        // Over several lines, as pretty-printed responses are.
        let error = "{\n  \"code\": \"internal_error\",\n  \"message\": \"no\"\n}\n";
        let page = "<!doctype html>\n<title>Here</title>\n";
        let (status, media_type, body) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "application/json", error.into()),
            Self::Failing => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "application/json",
                error.into(),
            ),
            Self::Page => (StatusCode::OK, "text/html", page.into()),
            Self::Silent => (StatusCode::OK, "application/json", Bytes::new()),
            Self::Echo => {
                let limit = usize::try_from(BODY_LIMIT).unwrap_or(usize::MAX);
                let body = Limited::new(request.into_body(), limit).collect().await;
                let body = body.map(|body| body.to_bytes()).unwrap_or_default();
                (StatusCode::OK, "application/json", body)
            }
            Self::EmptyObject | Self::Hanging | Self::Cutting => {
                (StatusCode::OK, "application/json", "{}".into())
            }
        };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        let media_type = HeaderValue::from_static(media_type);
        response.headers_mut().insert(CONTENT_TYPE, media_type);
        response
    }
}
