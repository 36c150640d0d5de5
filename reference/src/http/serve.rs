//! Listens, reads requests whole, has them answered, and sends the answers.

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{debug, error, warn};

use super::access::AccessLine;
use super::budget::Budget;
use super::error::{ApiError, Code};
use super::receive::receive;
use super::reply::Reply;
use super::request::Request;
use super::sending::{Sending, admit};
use super::size::size;
use super::tls::{Tls, period};
use crate::StartError;

/// How long the listener rests when the system cannot give it a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers requests.
pub trait Service: Send + Sync + 'static {
    /// Answers one request.
    fn answer(self: Arc<Self>, request: Request) -> impl Future<Output = Reply> + Send;

    /// The largest body, in bytes as sent, that a request may have; more is answered with 400
    /// `invalid_parameter`.
    fn body_limit(&self) -> usize;
}

/// How both servers listen.
#[derive(Debug, Clone, clap::Args)]
pub struct ServeOptions {
    /// The server's certificate chain, PEM; read again when the file changes
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    pub tls_cert_file: Option<PathBuf>,
    /// The private key of the certificate, PEM; read again when the file changes
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_private_key_file: Option<PathBuf>,
    /// Clients must show a certificate that one of the certificates in this file has signed, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_ca_cert_file: Option<PathBuf>,
    /// Shortest time between two looks at the certificate files, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = period)]
    pub tls_cert_refresh_period: Duration,
    /// The oldest TLS version that is spoken
    #[arg(long, value_name = "VERSION", default_value = "1.2", value_parser = ["1.2", "1.3"])]
    pub min_tls_version: String,
    /// Seconds that open requests may still take when the server is told to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub shutdown_grace_period: u64,
    /// Seconds to go on as before when the server is told to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub shutdown_wait_period: u64,
    /// Time that a client may take for the head of a request, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = period)]
    pub header_timeout: Duration,
    /// Time that a client may take for the body of a request, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = period)]
    pub body_timeout: Duration,
    /// Connections that are served at the same time; further ones wait
    #[arg(long, value_name = "COUNT", default_value = "4096")]
    pub max_connections: NonZeroUsize,
    /// Memory for the bodies of all requests in flight, also after decompression, such as 64MiB or
    /// 2GiB; when it is spent, requests wait for a second and are then answered 503
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub body_memory: usize,
    /// Memory for the answers that are being sent, such as 64MiB or 2GiB; when it is spent,
    /// requests wait for a second and are then answered 503
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = size)]
    pub answer_memory: usize,
}

/// A listening server. Dropping it stops the server as `shutdown` does, without waiting.
#[derive(Debug)]
pub struct Listening {
    /// The address that was bound.
    pub address: SocketAddr,
    wait: Duration,
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Listening {
    /// Goes on for the wait period, then takes no new connections, lets open requests end within
    /// the grace period, and returns.
    pub async fn shutdown(self) {
        tokio::time::sleep(self.wait).await;
        drop(self.stop);
        if let Err(failure) = self.task.await {
            error!(%failure, "the listener ended early");
        }
    }
}

/// Binds an address and serves it until the returned value is dropped or shut down.
///
/// # Errors
/// When the address cannot be bound, or the certificate or its key cannot be used.
pub async fn listen<S: Service>(
    address: &str,
    options: &ServeOptions,
    service: Arc<S>,
) -> Result<Listening, StartError> {
    let tls = Tls::open(options)?;
    let listener = bind(address).await?;
    let address = listener
        .local_addr()
        .map_err(|source| StartError::new(format!("address of the listener: {source}")))?;
    let (stop, stopped) = watch::channel(());
    let server = Arc::new(Server {
        service,
        tls,
        options: options.clone(),
        bodies: Budget::new(options.body_memory),
        answers: Budget::new(options.answer_memory),
    });
    let task = tokio::spawn(server.run(listener, stopped));
    Ok(Listening {
        address,
        wait: Duration::from_secs(options.shutdown_wait_period),
        stop,
        task,
    })
}

/// Binds `HOST:PORT`; an address without a host means every interface.
async fn bind(address: &str) -> Result<TcpListener, StartError> {
    let bound = if address.starts_with(':') {
        match TcpListener::bind(format!("[::]{address}")).await {
            Ok(listener) => Ok(listener),
            Err(_) => TcpListener::bind(format!("0.0.0.0{address}")).await,
        }
    } else {
        TcpListener::bind(address).await
    };
    bound.map_err(|source| StartError::new(format!("cannot listen on `{address}`: {source}")))
}

/// What all connections of one listener share.
struct Server<S> {
    service: Arc<S>,
    tls: Option<Tls>,
    options: ServeOptions,
    /// The memory for the bodies of requests.
    bodies: Budget,
    /// The memory for answers.
    answers: Budget,
}

impl<S: Service> Server<S> {
    /// Accepts connections until told to stop, then waits for the open ones.
    async fn run(self: Arc<Self>, listener: TcpListener, mut stopped: watch::Receiver<()>) {
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        loop {
            let full = connections.len() >= self.options.max_connections.get();
            let accepted = tokio::select! {
                _ = stopped.changed() => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept(), if !full => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let served = Arc::clone(&self).connection(stream, peer, graceful.watcher());
                    connections.spawn(served);
                }
                Err(failure) => {
                    warn!(%failure, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        let grace = Duration::from_secs(self.options.shutdown_grace_period);
        if tokio::time::timeout(grace, graceful.shutdown())
            .await
            .is_err()
        {
            warn!(
                connections = connections.len(),
                "closing what did not end in time"
            );
        }
    }

    /// Serves one connection, after its TLS handshake if there is TLS.
    async fn connection(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, watcher: Watcher) {
        if let Err(failure) = stream.set_nodelay(true) {
            debug!(%peer, %failure, "cannot switch off delayed sending");
        }
        let Some(tls) = &self.tls else {
            return Arc::clone(&self).requests(stream, peer, watcher).await;
        };
        match tokio::time::timeout(self.options.header_timeout, tls.accept(stream)).await {
            Ok(Ok(stream)) => Arc::clone(&self).requests(stream, peer, watcher).await,
            Ok(Err(failure)) => debug!(%peer, %failure, "TLS handshake failed"),
            Err(_) => debug!(%peer, "TLS handshake timed out"),
        }
    }

    /// Serves the requests of one connection.
    async fn requests<I>(self: Arc<Self>, stream: I, peer: SocketAddr, watcher: Watcher)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let timeout = self.options.header_timeout;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(timeout);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(timeout);
        let begun = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&begun);
        let service = service_fn(move |request| {
            seen.store(true, Ordering::Relaxed);
            let server = Arc::clone(&self);
            async move { Ok::<_, Infallible>(server.exchange(request, peer).await) }
        });
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        // The header timeout of HTTP/1 starts when the protocol is known. A client that never
        // says enough to tell holds its connection no longer than one that sends a slow head.
        let silent = async {
            tokio::time::sleep(timeout).await;
            if begun.load(Ordering::Relaxed) {
                pending::<()>().await;
            }
        };
        tokio::select! {
            ended = watcher.watch(connection.into_owned()) => {
                if let Err(failure) = ended {
                    debug!(%peer, %failure, "connection failed");
                }
            }
            () = silent => debug!(%peer, "no request in time"),
        }
    }

    /// Reads one request, has it answered, and writes the access log.
    async fn exchange(
        &self,
        request: hyper::Request<Incoming>,
        peer: SocketAddr,
    ) -> hyper::Response<Sending> {
        let begun = Instant::now();
        let (parts, body) = request.into_parts();
        let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
        let limit = self.service.body_limit();
        let timeout = self.options.body_timeout;
        let received = receive(parts, body, limit, timeout, &self.bodies).await;
        let reply = match received {
            Ok(mut request) => {
                request.client = Some(peer);
                AssertUnwindSafe(Arc::clone(&self.service).answer(request))
                    .catch_unwind()
                    .await
                    .unwrap_or_else(|_| {
                        error!(%method, path, "the handler panicked");
                        ApiError::new(Code::InternalError, "the server failed").reply()
                    })
            }
            Err(refusal) => refusal,
        };
        let (reply, share) = admit(reply, &self.answers).await;
        let line = AccessLine {
            client: peer,
            method,
            path,
            status: reply.status,
            sent: 0,
            begun,
        };
        Sending::response(reply, share, line)
    }
}
