//! Outages of PostgreSQL under load: the connection is cut, the server restarts or stops
//! responding. No acknowledged write is lost, the only error is 503, and the control plane recovers
//! by itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use reference::control::Control;
use sqlx::Executor;
use sqlx::any::AnyConnectOptions;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::database_failures::health;
use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::{Case, HANG_LIMIT, Outcome};

pub(crate) const POSTGRES: &[Case] = &[("outages-lose-nothing", outages)];

/// Number of concurrent writers.
const WRITERS: usize = 4;

/// State of the link between the control plane and PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Everything is forwarded.
    Open,
    /// Connections are closed.
    Cut,
    /// Connections stall, and new ones get no response.
    Silent,
}

/// Starts a proxy in front of a server, controlled by the state of the link; returns its address.
async fn relay(server: String, line: watch::Receiver<Line>) -> Result<SocketAddr, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (server, line) = (server.clone(), line.clone());
            tokio::spawn(async move { carry(client, &server, line).await });
        }
    });
    Ok(address)
}

async fn carry(mut client: TcpStream, server: &str, mut line: watch::Receiver<Line>) {
    let state = *line.borrow_and_update();
    if state == Line::Open {
        let Ok(mut server) = TcpStream::connect(server).await else {
            return;
        };
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => return,
            _ = line.changed() => {}
        }
    }
    if *line.borrow_and_update() == Line::Silent {
        // Neither a response nor the end of the connection reaches the client.
        tokio::time::sleep(HANG_LIMIT * 2).await;
    }
}

fn outages(environment: Environment) -> Outcome {
    Box::pin(async move {
        let mut options: AnyConnectOptions = environment.url().parse()?;
        let url = &mut options.database_url;
        let host = url.host_str().ok_or("an address without a host")?;
        let server = format!("{host}:{}", url.port().unwrap_or(5432));
        let (line, watched) = watch::channel(Line::Open);
        let relay = relay(server, watched).await?;
        url.set_port(Some(relay.port())).map_err(|()| "no port")?;
        url.set_host(Some("127.0.0.1"))?;
        let key = environment.folder().join("key").display().to_string();
        let key = ["--encryption-key-file", &key];
        let control = environment.open_at(url.as_str(), &key).await?;
        run_script(&control, "admin PUT /v1/sources/s {} => 200").await?;

        let (stop, stopped) = watch::channel(false);
        let written: [Arc<AtomicUsize>; WRITERS] = Default::default();
        let writers = written.iter().enumerate().map(|(at, written)| {
            let (control, written) = (Arc::clone(&control), Arc::clone(written));
            tokio::spawn(keep_writing(control, at, written, stopped.clone()))
        });
        let writers: Vec<_> = writers.collect();

        progress(&written).await?;
        for state in [Line::Cut, Line::Silent, Line::Cut] {
            line.send(state)?;
            let part = if state == Line::Cut {
                "reached"
            } else {
                "the database"
            };
            health(&control, 500, part).await?;
            tokio::time::sleep(Duration::from_millis(500)).await;
            line.send(Line::Open)?;
            progress(&written).await?;
            health(&control, 200, "{}").await?;
        }
        // Connections are terminated as in a restart of the server.
        let pool = environment.database().await?;
        for _ in 0..5 {
            let end = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
                       WHERE pid <> pg_backend_pid() AND query LIKE '%documents%'";
            pool.execute(end).await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        progress(&written).await?;
        stop.send(true)?;
        let mut refused = 0;
        for writer in writers {
            refused += writer.await??;
        }
        if refused == 0 {
            return Err("no write saw an outage".into());
        }
        let rows = sqlx::query("SELECT path FROM documents")
            .fetch_all(&pool)
            .await?;
        let stored = rows.len();
        let acknowledged: usize = written.iter().map(|one| one.load(Ordering::Relaxed)).sum();
        for (writer, count) in written.iter().enumerate() {
            for number in 0..count.load(Ordering::Relaxed) {
                let get = format!("admin GET /v1/sources/s/data/w{writer}/n{number}");
                run_script(&control, &format!("{get} => 200 {{\"result\":{number}}}")).await?;
            }
        }
        match stored >= acknowledged {
            true => Ok(()),
            false => Err(format!("{stored} of {acknowledged} writes are there").into()),
        }
    })
}

/// Waits until further writes of every writer have been acknowledged.
async fn progress(written: &[Arc<AtomicUsize>]) -> Result<(), Failed> {
    let started = Instant::now();
    for one in written {
        let before = one.load(Ordering::Relaxed);
        while one.load(Ordering::Relaxed) < before + 3 {
            if started.elapsed() > HANG_LIMIT {
                return Err("the control plane does not come back".into());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    Ok(())
}

/// Writes documents in order, each repeatedly until it is acknowledged; returns the number of
/// refusals.
async fn keep_writing(
    control: Arc<Control>,
    writer: usize,
    written: Arc<AtomicUsize>,
    stopped: watch::Receiver<bool>,
) -> Result<usize, Failed> {
    let mut refused = 0;
    while !*stopped.borrow() {
        let number = written.load(Ordering::Relaxed);
        let target = format!("/v1/sources/s/data/w{writer}/n{number}");
        let started = Instant::now();
        let reply = send(&control, "admin", "PUT", &target, number.to_string()).await?;
        match reply.status.as_u16() {
            200 => drop(written.fetch_add(1, Ordering::Relaxed)),
            503 => refused += 1,
            status => return Err(format!("{target}: {status} {}", text(&reply)).into()),
        }
        if started.elapsed() > HANG_LIMIT {
            return Err(format!("a write took {:?}", started.elapsed()).into());
        }
    }
    Ok(refused)
}
