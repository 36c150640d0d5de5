//! What a server is told, and how it starts and stops.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::error;

use super::budget::Budget;
use super::listener::Acceptor;
use super::reply::Reply;
use super::request::Request;
use super::size::size;
use super::tls::{Tls, period};
use crate::StartError;

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
    /// Time that a client may read nothing of its answer, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = period)]
    pub write_timeout: Duration,
    /// Connections that are served at the same time; a further one takes the place of the longest
    /// idle one, or waits
    #[arg(long, value_name = "COUNT", default_value = "4096")]
    pub max_connections: NonZeroUsize,
    /// Connections of one address, or of one /64 network of IPv6, that are served at the same
    /// time; half of all unless given
    #[arg(long, value_name = "COUNT")]
    pub max_connections_per_address: Option<NonZeroUsize>,
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
    /// Goes on for the wait period, then takes those connections that wait already and no new
    /// ones, lets open requests end within the grace period, and returns.
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
    let task = tokio::spawn(Acceptor::new(server).run(listener, stopped));
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
pub(super) struct Server<S> {
    pub(super) service: Arc<S>,
    pub(super) tls: Option<Tls>,
    pub(super) options: ServeOptions,
    /// The memory for the bodies of requests.
    pub(super) bodies: Budget,
    /// The memory for answers.
    pub(super) answers: Budget,
}
