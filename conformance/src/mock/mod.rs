//! Mock servers for tests of clients: an engine and, on request, a control plane. The embedded
//! reference answers, behind a proxy that records requests and injects faults.
//!
//! A request comes to the [`front`], which reads it whole, puts it into the list of what was
//! [`recorded`], looks which [`faults`] touch it, and carries it to the [`servers`]. The [`admin`]
//! address shows the list, switches faults, and starts the servers anew.

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

/// How long the servers may take to answer; the engine's own limit of one evaluation is 30 s.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);

/// Options of the mock.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Where it listens.
    pub(crate) host: IpAddr,
    /// The engine's free_port; 0 for any free one.
    pub(crate) port: u16,
    /// The port of the admin address.
    pub(crate) admin_port: u16,
    /// The port of the control plane; none for no control plane.
    pub(crate) control_port: Option<u16>,
    /// The token of the control plane's administrator.
    pub(crate) control_token: String,
    /// Arguments of the engine: flags, and what it starts with.
    pub(crate) engine: Vec<String>,
    /// Further arguments of the control plane.
    pub(crate) control: Vec<String>,
    /// Files of faults that can be switched on by name.
    pub(crate) fault_files: Vec<PathBuf>,
    /// Names of faults that are on from the start.
    pub(crate) faults: Vec<String>,
    /// How much is recorded.
    pub(crate) recording: recorded::Limits,
}

pub(crate) use recorded::{Limits, Reply, Request};

/// A running mock, stopped when dropped.
#[derive(Debug)]
pub(crate) struct Mock {
    /// Where it listens, and with what the control plane is asked, as JSON.
    pub(crate) addresses: Value,
    shared: Arc<Shared>,
    listeners: Vec<JoinHandle<()>>,
}

/// What all its listeners share.
#[derive(Debug)]
struct Shared {
    client: Client,
    options: Options,
    /// Those that answer now; a request keeps those that it came to.
    servers: Mutex<Arc<Servers>>,
    recordings: Mutex<Recordings>,
    faults: Mutex<Faults>,
    /// Told whenever faults are switched off, which lets go of requests that hang.
    released: watch::Sender<()>,
    /// Bytes of bodies that may be held at the same time, in KiB.
    room: Semaphore,
    /// Held while the servers start anew.
    resetting: tokio::sync::Mutex<()>,
    addresses: std::sync::OnceLock<Value>,
}

impl Mock {
    /// Starts the servers and listens in front of them.
    ///
    /// # Errors
    /// A sentence: what the options name cannot be used, or an address is taken.
    pub(crate) async fn start(options: Options) -> Result<Self, String> {
        let mut faults = Faults::read(&options.fault_files)?;
        for name in &options.faults {
            faults.switch_on(name, None)?;
        }
        faults.keep_as_start();
        let connection = Connection {
            // Only the servers of this process are asked, without TLS; so that no authorities
            // are looked for.
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
            room: Semaphore::new(front::ROOM),
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

    /// Switches a fault on that is known by its name.
    ///
    /// # Errors
    /// There is no such fault.
    pub(crate) fn switch_on(&self, name: &str) -> Result<(), String> {
        lock(&self.shared.faults).switch_on(name, None)
    }

    /// Switches a fault on that this defines, as a fault file does.
    ///
    /// # Errors
    /// It is no definition.
    pub(crate) fn define(&self, name: &str, written: Map<String, Value>) -> Result<(), String> {
        lock(&self.shared.faults).define(name, written, None)
    }

    /// Lets go of requests that hang, whose connections are closed then.
    pub(crate) fn release(&self) {
        self.shared.released.send_replace(());
    }

    /// What was received, the oldest first, each with what it was answered.
    pub(crate) fn received(&self) -> Vec<(Request, Option<Reply>)> {
        lock(&self.shared.recordings).all()
    }

    /// Asks one of the servers behind the front: nothing is recorded, nothing is broken.
    ///
    /// # Errors
    /// There is no such server, or no answer.
    pub(crate) async fn ask(&self, api: Recipient, request: Outgoing) -> Result<Answer, String> {
        let servers = self.shared.servers();
        let base = servers.base(api).ok_or("there is no such server")?;
        let asked = self.shared.client.send(base, &request).await;
        asked.map_err(|error| error.to_string())
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
    let mut told = Map::new();
    told.insert("engine".to_owned(), url(engine)?);
    if let Some(control) = control {
        told.insert("control".to_owned(), url(control)?);
        let token = Value::from(options.control_token.as_str());
        told.insert("control_token".to_owned(), token);
    }
    told.insert("admin".to_owned(), url(admin)?);
    Ok(Value::Object(told))
}

impl Shared {
    /// The servers that answer now.
    fn servers(&self) -> Arc<Servers> {
        Arc::clone(&lock(&self.servers))
    }

    /// Starts new servers with what the first ones started with, and forgets requests and faults
    /// but those of the start. Requests on their way end on the servers that they came to.
    ///
    /// # Errors
    /// A sentence: what the servers start with can no longer be used. Then nothing has changed.
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
