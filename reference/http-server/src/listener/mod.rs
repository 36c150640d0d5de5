//! Acceptor: accepts connections, and closes them when the server stops.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};
use tracing::{debug, error, warn};

use super::connection::Connection;
use super::connection::activity::CloseReason;
use super::options::ServeOptions;
use super::remote_addr::Peer;
use super::service::{Server, Service};
use super::socket::Transport;

mod address;
mod backlog;
mod connection_table;
mod cpu_affinity;
mod fd_limit;
mod listening_socket;
mod threads;

use backlog::Backlog;
use connection_table::{Limits, Registry};
pub use listening_socket::ListenAddress;
pub(crate) use listening_socket::ListeningSocket;
use threads::Threads;

/// Delay after the system could not accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Interval at which waiting connections are promoted to full places.
const PROMOTE_PERIOD: Duration = Duration::from_millis(50);

/// Number of full places per place in the reserve, and the bounds of the size of the reserve.
const RESERVE_PART: usize = 16;
const RESERVE_LEAST: usize = 8;
const RESERVE_MOST: usize = 256;

/// Acceptor of one listener.
pub(super) struct Acceptor<S> {
    server: Arc<Server<S>>,
    registry: Registry<Id>,
    connections: JoinSet<()>,
    /// Threads that connections are bound to.
    threads: Option<Threads>,
    promotes: Interval,
}

impl<S: Service> Acceptor<S> {
    pub(super) fn new(server: Arc<Server<S>>) -> Self {
        let registry = Registry::new(limits(&server.options, fd_limit::raise()));
        let mut promotes = interval(PROMOTE_PERIOD);
        promotes.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            server,
            registry,
            connections: JoinSet::new(),
            threads: S::IS_BRIEF.then(Threads::start),
            promotes,
        }
    }

    /// Accepts connections until stopped, then those in the backlog, and waits for the open ones.
    pub(super) async fn run(mut self, listener: ListeningSocket, mut stopped: watch::Receiver<()>) {
        loop {
            let waits = self.registry.uses_reserve();
            tokio::select! {
                _ = stopped.changed() => break,
                Some(ended) = self.connections.join_next_with_id() => self.forget(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.serve(stream, peer, None),
                    Err(failure) if failure.kind() == ErrorKind::ConnectionAborted => {
                        debug!(%failure, "a client disconnected before it was accepted");
                    }
                    Err(failure) => {
                        warn!(%failure, "cannot accept a connection");
                        // Resources are exhausted; closing an idle connection releases some.
                        self.registry.close_idle();
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
                _ = self.promotes.tick(), if waits => self.registry.promote(),
            }
        }
        backlog::shut(&listener);
        self.registry.finish();
        let backlog = Backlog::new(listener);
        while let Some((stream, peer)) = backlog.next().await {
            self.serve(stream, peer, Some(CloseReason::Finish));
        }
        drop(backlog);
        let grace = self.server.options.shutdown_grace_period;
        if timeout(grace, self.end()).await.is_err() {
            let connections = self.connections.len();
            warn!(connections, "closing connections that did not end in time");
        }
    }

    /// Waits until all connections have ended.
    async fn end(&mut self) {
        loop {
            let waits = self.registry.uses_reserve();
            tokio::select! {
                ended = self.connections.join_next_with_id() => match ended {
                    Some(ended) => self.forget(ended),
                    None => break,
                },
                _ = self.promotes.tick(), if waits => self.registry.promote(),
            }
        }
    }

    /// Serves one connection.
    fn serve(&mut self, stream: Transport, peer: Peer, leaving: Option<CloseReason>) {
        let (activity, place) = self.registry.admit(peer.ip());
        if let Some(reason) = leaving {
            activity.leave(reason);
        }
        let connection = Connection {
            server: Arc::clone(&self.server),
            activity: Arc::clone(&activity),
            peer,
            bodies: Arc::new(self.server.bodies.clone()),
            answers: Arc::new(self.server.answers.clone()),
            certificates: Bytes::new(),
        };
        let threads = self.threads.as_ref();
        let thread = threads.and_then(|threads| threads.choose(cpu_affinity::of_client(&stream)));
        let task = match thread {
            Some((thread, load)) => {
                let served = async move {
                    let _load = load;
                    match stream.moved() {
                        Ok(stream) => connection.run(stream).await,
                        Err(failure) => warn!(%failure, "cannot serve a connection"),
                    }
                };
                self.connections.spawn_on(served, thread)
            }
            None => self.connections.spawn(connection.run(stream)),
        };
        self.registry.insert(task.id(), peer.ip(), activity, place);
    }

    /// Removes an ended connection; its place becomes free.
    fn forget(&mut self, ended: Result<(Id, ()), tokio::task::JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(failure) => {
                if failure.is_panic() {
                    error!(%failure, "a connection panicked");
                }
                failure.id()
            }
        };
        self.registry.remove(id);
        if self.registry.uses_reserve() {
            self.registry.promote();
        }
    }
}

/// Limits of the number of connections, of which at most `available` can be open.
fn limits(options: &ServeOptions, available: Option<usize>) -> Limits {
    // A fraction of the room is left for the places in the reserve.
    let available = available.map(|available| available - available / (RESERVE_PART + 1));
    let all = fd_limit::fitting(options.max_connections.get(), available);
    let share = options.max_connections_per_address;
    let share = share.map_or(all.div_ceil(2), NonZeroUsize::get);
    Limits {
        all,
        share: share.min(all),
        reserve: (all / RESERVE_PART).clamp(RESERVE_LEAST, RESERVE_MOST),
    }
}
