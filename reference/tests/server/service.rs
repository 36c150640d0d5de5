//! Server with handlers that report their cancellation.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use clap::Parser;
use http::StatusCode;
use reference::http::server::{ListenAddress, Listening, listen};
use reference::http::{Reply, Request, ServeOptions, Service};
use tokio::net::TcpStream;

use crate::wire::{connect_as, patient, until};

/// Length of the response to `/big` in bytes: more than the buffers of two sockets.
pub(crate) const BIG: usize = 32 << 20;

/// Handlers by path: `/quick` responds immediately, `/short` soon unless it is cancelled, `/big`
/// with a large body, `/endless` never, `/heeding` when it is cancelled; other paths panic.
#[derive(Default)]
pub(crate) struct Work {
    /// Number of requests received.
    started_requests: AtomicUsize,
    /// Number of requests that have ended or were cancelled.
    over: AtomicUsize,
}

impl Service for Work {
    async fn answer(self: &Arc<Self>, request: Request) -> Reply {
        self.started_requests.fetch_add(1, Ordering::SeqCst);
        let (work, cancelled) = (Arc::clone(self), Arc::clone(&request.cancelled));
        tokio::spawn(async move {
            is_set(&cancelled).await;
            work.over.fetch_add(1, Ordering::SeqCst);
        });
        match request.path.cache_key() {
            "/quick" => Reply::text(StatusCode::OK, "fine"),
            "/big" => Reply::text(StatusCode::OK, "x".repeat(BIG)),
            "/endless" => pending().await,
            "/short" => tokio::select! {
                biased;
                () = is_set(&request.cancelled) => Reply::text(StatusCode::OK, "cancelled"),
                () = tokio::time::sleep(Duration::from_millis(20)) => {
                    Reply::text(StatusCode::OK, "fine")
                }
            },
            "/heeding" => {
                is_set(&request.cancelled).await;
                Reply::text(StatusCode::OK, "cancelled")
            }
            path => panic!("a defect at {path}"),
        }
    }

    fn body_limit(&self) -> usize {
        1 << 20
    }
}

async fn is_set(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    serve: ServeOptions,
}

/// Running server with [`Work`] as its handlers.
pub(crate) struct Server {
    pub(crate) listening: Listening,
    pub(crate) address: SocketAddr,
    work: Arc<Work>,
}

impl Server {
    pub(crate) async fn start(flags: &[&str]) -> Self {
        let flags = Flags::parse_from([&["flags"], &*patient(flags)].concat());
        let work = Arc::new(Work::default());
        match listen("127.0.0.1:0", &flags.serve, Arc::clone(&work)).await {
            Ok(listening) => Self {
                address: match &listening.place {
                    ListenAddress::Tcp(address) => *address,
                    ListenAddress::Unix(path) => panic!("it listens on {}", path.display()),
                },
                listening,
                work,
            },
            Err(failure) => panic!("the server does not start: {failure}"),
        }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        connect_as(self.address, |_| Ok(())).await
    }

    /// Opens a connection with a small receive buffer at the client.
    pub(crate) async fn connect_narrow(&self) -> TcpStream {
        connect_as(self.address, |socket| socket.set_recv_buffer_size(4096)).await
    }

    /// Waits until the server has received a number of requests.
    pub(crate) async fn wait_for_requests(&self, count: usize) {
        let what = format!("{count} requests");
        until(&what, || {
            self.work.started_requests.load(Ordering::SeqCst) >= count
        })
        .await;
    }

    /// Returns the number of requests that have ended or were cancelled.
    pub(crate) fn over(&self) -> usize {
        self.work.over.load(Ordering::SeqCst)
    }
}
