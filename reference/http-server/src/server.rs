//! Server start and shutdown.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::error;

use super::listener::{Acceptor, ListeningSocket};
use super::memory_budget::MemoryBudget;
use super::options::ServeOptions;
use super::service::{Server, Service};
use super::tls::Tls;
use crate::StartError;

pub use super::listener::ListenAddress;

/// A listening server. Dropping it stops the server like `shutdown`, without waiting.
#[derive(Debug)]
pub struct Listening {
    /// Address that the server listens on.
    pub place: ListenAddress,
    wait: Duration,
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Listening {
    /// Continues for the wait period, then accepts only connections in the backlog, lets open
    /// requests finish within the grace period, and returns.
    pub async fn shutdown(self) {
        tokio::time::sleep(self.wait).await;
        drop(self.stop);
        if let Err(failure) = self.task.await {
            error!(%failure, "the listener ended early");
        }
    }
}

/// Binds `[http://|https://]HOST:PORT` or `unix://PATH` and serves it until the returned value is
/// dropped or shut down. Without a scheme TLS is enabled if there is a certificate.
///
/// # Errors
/// When the address cannot be bound, or the certificate or its key is invalid or missing.
pub async fn listen<S: Service>(
    address: &str,
    options: &ServeOptions,
    service: Arc<S>,
) -> Result<Listening, StartError> {
    let refused = |reason: &str| StartError::new(format!("cannot listen on `{address}`: {reason}"));
    let (tls, door) = match address.split_once("://") {
        None => (Tls::open(options)?, bind(address).await),
        Some(("http", host)) => (None, bind(host).await),
        Some(("https", host)) => match Tls::open(options)? {
            Some(tls) => (Some(tls), bind(host).await),
            None => return Err(refused("there is no certificate: see --tls-cert-file")),
        },
        Some(("unix", path)) => {
            let path = Path::new(path);
            (None, ListeningSocket::unix(path, options.unix_socket_perm))
        }
        Some(_) => return Err(refused("invalid scheme: expected http, https or unix")),
    };
    let bound = door.and_then(|door| Ok((door.place()?, door)));
    let (place, door) = bound.map_err(|source| refused(&source.to_string()))?;
    let (stop, stopped) = watch::channel(());
    let server = Arc::new(Server {
        service,
        tls,
        options: options.clone(),
        bodies: MemoryBudget::new(options.body_memory),
        answers: MemoryBudget::new(options.response_memory),
    });
    let task = tokio::spawn(Acceptor::new(server).run(door, stopped));
    Ok(Listening {
        place,
        wait: options.shutdown_wait_period,
        stop,
        task,
    })
}

/// Binds `HOST:PORT`; an address without a host means every interface.
async fn bind(address: &str) -> io::Result<ListeningSocket> {
    let bound = if address.starts_with(':') {
        match TcpListener::bind(format!("[::]{address}")).await {
            Ok(listener) => Ok(listener),
            Err(_) => TcpListener::bind(format!("0.0.0.0{address}")).await,
        }
    } else {
        TcpListener::bind(address).await
    };
    bound.map(ListeningSocket::Tcp)
}
