//! Mock servers for tests of clients: an engine and, on request, a control plane. The embedded
//! reference responds through a proxy that records requests and injects faults.
//!
//! The [`front`] reads a whole request, adds it to the [`recorded`] requests, selects the
//! [`faults`] that affect it, and forwards it to the [`servers`]. The [`admin`] address lists the
//! requests, switches faults, and restarts the servers.

mod admin;
mod answers;
mod faults;
mod front;
mod recorded;
mod servers;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::body::Incoming;
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::faults::Recipient;
use crate::fixture_server::listener::listen;
use crate::http_client::answer::Answer;
use crate::http_client::wire::Outgoing;
use crate::http_client::{Client, Connection};
use crate::sync::lock;
use faults::Faults;
use recorded::Recordings;
use servers::Servers;

/// Timeout of a server's response; the engine's own limit of one evaluation is 30 s.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);

/// Options of the mock.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// IP address to listen on.
    pub(crate) host: IpAddr,
    /// Port of the engine; 0 for any free one.
    pub(crate) port: u16,
    /// The port of the admin address.
    pub(crate) admin_port: u16,
    /// The port of the control plane; none for no control plane.
    pub(crate) control_port: Option<u16>,
    /// The token of the control plane's administrator.
    pub(crate) control_token: String,
    /// Arguments of the engine: flags, and its initial data and policies.
    pub(crate) engine: Vec<String>,
    /// Further arguments of the control plane.
    pub(crate) control: Vec<String>,
    /// Files of faults that can be enabled by name.
    pub(crate) fault_files: Vec<PathBuf>,
    /// Names of faults that are enabled from the start.
    pub(crate) faults: Vec<String>,
    /// Limits of the recording.
    pub(crate) recording: recorded::Limits,
}

pub(crate) use recorded::{Limits, Reply, Request};

/// A running mock, stopped when dropped.
#[derive(Debug)]
pub(crate) struct Mock {
    /// Listen addresses, and the token of the control plane, as JSON.
    pub(crate) addresses: Value,
    shared: Arc<Shared>,
    listeners: Vec<JoinHandle<()>>,
}

/// State shared by all listeners.
#[derive(Debug)]
struct Shared {
    client: Client,
    options: Options,
    /// Current servers; a request ends on the servers on which it started.
    servers: Mutex<Arc<Servers>>,
    recordings: Mutex<Recordings>,
    faults: Mutex<Faults>,
    /// Notified whenever faults are disabled or requests released; then hanging requests end.
    released: watch::Sender<()>,
    /// Semaphore for the memory of concurrent request bodies, in KiB.
    body_budget: Semaphore,
    /// Locked while the servers restart.
    resetting: tokio::sync::Mutex<()>,
    addresses: std::sync::OnceLock<Value>,
}

impl Mock {
    /// Starts the servers and the proxy.
    ///
    /// # Errors
    /// A message if an option cannot be used, or an address is in use.
    pub(crate) async fn start(options: Options) -> Result<Self, String> {
        let mut faults = Faults::read(&options.fault_files)?;
        for name in &options.faults {
            faults.switch_on(name, None)?;
        }
        faults.save_as_initial();
        let connection = Connection {
            // Only the servers of this process are requested, without TLS, so no authorities are
            // loaded.
            insecure: true,
            timeout: ANSWERED_WITHIN,
            ..Connection::default()
        };
        let client = Client::new(&connection).map_err(|error| error.to_string())?;
        let engine = bind(options.host, options.port).await?;
        let admin = bind(options.host, options.admin_port).await?;
        let control = match options.control_port {
            Some(port) => Some(bind(options.host, port).await?),
            None => None,
        };
        let servers = Servers::start(&options).await?;
        let addresses = addresses(&options, &engine, &admin, control.as_ref())?;
        let shared = Arc::new(Shared {
            client,
            servers: Mutex::new(Arc::new(servers)),
            recordings: Mutex::new(Recordings::new(options.recording)),
            faults: Mutex::new(faults),
            released: watch::Sender::new(()),
            body_budget: Semaphore::new(front::BODY_BUDGET_KIB),
            resetting: tokio::sync::Mutex::default(),
            addresses: addresses.clone().into(),
            options,
        });
        let mut listeners = vec![
            serve(engine, Recipient::Engine, &shared),
            serve_admin(admin, &shared),
        ];
        listeners.extend(control.map(|socket| serve(socket, Recipient::Control, &shared)));
        Ok(Self {
            addresses,
            shared,
            listeners,
        })
    }

    /// Enables a known fault by name.
    ///
    /// # Errors
    /// There is no such fault.
    pub(crate) fn switch_on(&self, name: &str) -> Result<(), String> {
        lock(&self.shared.faults).switch_on(name, None)
    }

    /// Enables a fault with this definition, as in a fault file.
    ///
    /// # Errors
    /// The definition is invalid.
    pub(crate) fn define(&self, name: &str, written: Map<String, Value>) -> Result<(), String> {
        lock(&self.shared.faults).define(name, written, None)
    }

    /// Releases hanging requests, whose connections are then closed.
    pub(crate) fn release(&self) {
        self.shared.released.send_replace(());
    }

    /// Returns the received requests, oldest first, each with its response.
    pub(crate) fn received(&self) -> Vec<(Request, Option<Reply>)> {
        lock(&self.shared.recordings).all()
    }

    /// Sends a request directly to one of the servers, without recording and faults.
    ///
    /// # Errors
    /// There is no such server, or no response.
    pub(crate) async fn send(&self, api: Recipient, request: Outgoing) -> Result<Answer, String> {
        let servers = self.shared.servers();
        let base = servers.base(api).ok_or("there is no such server")?;
        let answer = self.shared.client.send(base, &request).await;
        answer.map_err(|error| error.to_string())
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

async fn bind(host: IpAddr, port: u16) -> Result<TcpListener, String> {
    let address = SocketAddr::new(host, port);
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| format!("cannot listen on {address}: {error}"))
}

fn serve(socket: TcpListener, api: Recipient, shared: &Arc<Shared>) -> JoinHandle<()> {
    let shared = Arc::clone(shared);
    tokio::spawn(listen(socket, move |request: hyper::Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move { shared.answer(api, request).await }
    }))
}

fn serve_admin(socket: TcpListener, shared: &Arc<Shared>) -> JoinHandle<()> {
    let shared = Arc::clone(shared);
    tokio::spawn(listen(socket, move |request: hyper::Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.administer(request).await) }
    }))
}

fn addresses(
    options: &Options,
    engine: &TcpListener,
    admin: &TcpListener,
    control: Option<&TcpListener>,
) -> Result<Value, String> {
    let url = |socket: &TcpListener| match socket.local_addr() {
        Ok(address) => Ok(Value::from(format!("http://{address}"))),
        Err(error) => Err(format!("there is no address to listen on: {error}")),
    };
    let mut addresses = Map::new();
    addresses.insert("engine".to_owned(), url(engine)?);
    if let Some(control) = control {
        addresses.insert("control".to_owned(), url(control)?);
        let token = Value::from(options.control_token.as_str());
        addresses.insert("control_token".to_owned(), token);
    }
    addresses.insert("admin".to_owned(), url(admin)?);
    Ok(Value::Object(addresses))
}

impl Shared {
    /// Returns the current servers.
    fn servers(&self) -> Arc<Servers> {
        Arc::clone(&lock(&self.servers))
    }

    /// Starts new servers with the initial options, and deletes requests and faults except those of
    /// the start. Requests in progress end on the servers that they started on.
    ///
    /// # Errors
    /// A message if the options can no longer be used. Then nothing has changed.
    async fn reset(&self) -> Result<(), String> {
        let _only = self.resetting.lock().await;
        let fresh = Arc::new(Servers::start(&self.options).await?);
        *lock(&self.servers) = fresh;
        lock(&self.faults).reset();
        self.released.send_replace(());
        lock(&self.recordings).forget();
        Ok(())
    }
}
