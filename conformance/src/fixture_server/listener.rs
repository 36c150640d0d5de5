//! Listener of the suite's own HTTP servers.

use std::error::Error;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Timeout for a request's head to arrive, and for its body.
pub(crate) const ARRIVES_WITHIN: Duration = Duration::from_secs(30);
/// Maximum number of concurrent connections; further ones wait.
pub(crate) const CONNECTIONS: usize = 256;
/// Pause of the listener after it failed to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers every request with `answer` until the future is dropped, which ends open connections. An
/// error of `answer` closes the connection.
pub(crate) async fn listen<A, F, B, E>(listener: TcpListener, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response<B>, E>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    E: Into<Box<dyn Error + Send + Sync>> + 'static,
{
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if open.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    open.spawn(serve(stream, answer.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = open.join_next() => {}
        }
    }
}

async fn serve<A, F, B, E>(stream: TcpStream, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Result<Response<B>, E>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    E: Into<Box<dyn Error + Send + Sync>> + 'static,
{
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVES_WITHIN);
    let service = service_fn(answer);
    // A client that disconnects ends only its own connection.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
