//! How a server starts and stops listening.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::error;

use super::listener::Acceptor;
use super::memory_budget::MemoryBudget;
use super::options::ServeOptions;
use super::service::{Server, Service};
use super::tls::Tls;
use crate::StartError;

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

/// Binds `[http://|https://]HOST:PORT` and serves it until the returned value is dropped or shut
/// down. Without a scheme TLS is spoken when there is a certificate.
///
/// # Errors
/// When the address cannot be bound, or the certificate or its key cannot be used or is missing.
pub async fn listen<S: Service>(
    address: &str,
    options: &ServeOptions,
    service: Arc<S>,
) -> Result<Listening, StartError> {
    let refused = |why: &str| StartError::new(format!("cannot listen on `{address}`: {why}"));
    let (tls, host) = match address.split_once("://") {
        None => (Tls::open(options)?, address),
        Some(("http", host)) => (None, host),
        Some(("https", host)) => match Tls::open(options)? {
            Some(tls) => (Some(tls), host),
            None => return Err(refused("there is no certificate: see --tls-cert-file")),
        },
        Some(_) => return Err(refused("the scheme is neither http nor https")),
    };
    let listener = bind(host).await?;
    let address = listener
        .local_addr()
        .map_err(|source| StartError::new(format!("address of the listener: {source}")))?;
    let (stop, stopped) = watch::channel(());
    let server = Arc::new(Server {
        service,
        tls,
        options: options.clone(),
        bodies: MemoryBudget::new(options.body_memory),
        answers: MemoryBudget::new(options.response_memory),
    });
    let task = tokio::spawn(Acceptor::new(server).run(listener, stopped));
    Ok(Listening {
        address,
        wait: options.shutdown_wait_period,
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
