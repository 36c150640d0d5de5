//! Shim: an HTTP server in front of a library. It stores policies and documents, and a child
//! process, the adapter, evaluates every decision.

mod adapter;
mod answers;
mod documents;
mod routes;

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::fixture_server::listener::listen;
use adapter::Adapter;
use routes::Engine;

/// Options of a shim.
#[derive(Debug)]
pub(crate) struct Options {
    /// IP address to listen on.
    pub(crate) host: IpAddr,
    /// Port to listen on; 0 means any free one.
    pub(crate) port: u16,
    /// The adapter: a program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// Timeout of one answer of the adapter.
    pub(crate) timeout: Duration,
}

/// A shim that serves until it is dropped; the adapter ends with it.
#[derive(Debug)]
pub(crate) struct Shim {
    /// URL of the shim.
    pub(crate) url: String,
    server: JoinHandle<()>,
}

impl Shim {
    /// Starts the adapter and serves.
    ///
    /// # Errors
    /// The address is in use, or the adapter does not start or gives an invalid answer.
    pub(crate) async fn start(options: Options) -> Result<Self, String> {
        let address = SocketAddr::new(options.host, options.port);
        let taken = |error| format!("{address}: {error}");
        let listener = TcpListener::bind(address).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        let adapter = Adapter::new(options.command, options.timeout);
        adapter.check().await?;
        let engine = Arc::new(Engine::new(adapter));
        let server = tokio::spawn(listen(listener, move |request| {
            let engine = Arc::clone(&engine);
            async move { Ok::<_, std::convert::Infallible>(engine.answer(request).await) }
        }));
        Ok(Self {
            url: format!("http://{address}"),
            server,
        })
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        self.server.abort();
    }
}
