//! Connection exhaustion by clients that send little or no data.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness, NEVER};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Process, Wire, exchange, request};

/// Timeout of the servers for the head and the body of a request.
const TIMEOUT: &str = "2s";

/// Number of concurrent clients.
const MANY: usize = 250;

/// Source address of a client without earlier connections, which must be admitted, and the maximum
/// ratio of its latency to the bound of the health monitor.
const NEWCOMER: [u8; 4] = [127, 0, 0, 4];
const SOON: f64 = 10.0;

/// Connection limit of the server, and a number of connections above the limit.
const LIMIT: &str = "200";
const BEYOND: u8 = 250;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 256;

/// Behaviour of a slow client.
#[derive(Debug, Clone, Copy)]
enum Slow {
    /// Sends a head byte by byte.
    Head,
    /// Sends a body byte by byte.
    Body,
    /// Sends a body in chunks of one byte.
    Chunks,
    /// Sends nothing.
    Silent,
    /// Sends the beginning of the HTTP/2 preface.
    Preface,
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let times = ["--header-timeout", TIMEOUT, "--body-timeout", TIMEOUT];
    let mut server = harness.engine(&times, &[]).await?;
    for slow in [
        Slow::Head,
        Slow::Body,
        Slow::Chunks,
        Slow::Silent,
        Slow::Preface,
    ] {
        let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
        let mut clients = JoinSet::new();
        for number in 0..MANY {
            // Several addresses, so that no limit per address applies.
            let from = [127, 0, 3, u8::try_from(number % 10).unwrap_or(0) + 1];
            let to = server.address;
            clients.spawn(async move {
                let client = Wire::connect(to, from).await?;
                Ok::<_, Failure>(drip(client, slow).await)
            });
        }
        let mut stayed = 0;
        while let Some(client) = clients.join_next().await {
            stayed += usize::from(!client??);
        }
        findings.check(
            format!("{slow:?}: {stayed} of {MANY} slow clients were let stay"),
            stayed == 0,
        );
        findings.watch(bystander.stop().await?);
    }
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    // No connection is closed because its client is slow.
    let limits = ["--header-timeout", NEVER, "--body-timeout", NEVER];
    let crowded = [&["--max-connections", LIMIT][..], &limits].concat();
    for (what, spread) in [("idle", false), ("idle from many", true)] {
        let mut server = harness.engine(&crowded, &[]).await?;
        idle(&mut findings, &server, what, spread).await?;
        findings.end(&mut server).await?;
    }
    for (what, spread) in [
        ("unfinished bodies", false),
        ("unfinished bodies from many", true),
    ] {
        let mut server = harness.engine(&crowded, &[]).await?;
        busy(&mut findings, &server, what, spread).await?;
        findings.end(&mut server).await?;
    }
    Ok(findings)
}

/// Sends bytes slowly; returns whether the server closes the connection or responds with an error.
async fn drip(mut client: Wire, slow: Slow) -> bool {
    let start = Instant::now();
    let first = match slow {
        Slow::Head => "GET /health HTTP/1.1\r\nHost: server\r\nX: ",
        Slow::Body => "POST /v1/data HTTP/1.1\r\nHost: server\r\nContent-Length: 5000\r\n\r\n",
        Slow::Chunks => {
            "POST /v1/data HTTP/1.1\r\nHost: server\r\nTransfer-Encoding: chunked\r\n\r\n"
        }
        Slow::Silent => "",
        Slow::Preface => "PRI * HTTP/2.0\r\n\r\nSM",
    };
    let piece = match slow {
        Slow::Chunks => "1\r\n \r\n",
        Slow::Head | Slow::Body => " ",
        Slow::Silent | Slow::Preface => "",
    };
    if client.send(first.as_bytes()).await.is_err() {
        return true;
    }
    while start.elapsed() < HANG_LIMIT {
        if client.send(piece.as_bytes()).await.is_err() {
            return true;
        }
        match client.answer_within(Duration::from_millis(100)).await {
            Ok(answer) => return answer.status() >= 400,
            Err(failure) if failure.kind() == std::io::ErrorKind::TimedOut => {}
            Err(_) => return true,
        }
    }
    false
}

/// Opens more connections than the limit, each idle after a request.
async fn idle(
    findings: &mut Findings,
    server: &Process,
    what: &str,
    spread: bool,
) -> Result<(), Failure> {
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let mut clients = JoinSet::new();
    for number in 0..BEYOND {
        let to = server.address;
        let from = address(number, spread);
        clients.spawn(async move {
            let mut client = Wire::connect(to, from).await.ok()?;
            client.send(&request("GET", "/health", "")).await.ok()?;
            // A rejected client gets no response, which is what this attack causes.
            let _answer = client.answer_within(Duration::from_secs(1)).await;
            Some(client)
        });
    }
    let mut open_connections = Vec::new();
    while let Some(client) = clients.join_next().await {
        open_connections.extend(client?);
    }
    outlast(findings, server, bystander, open_connections, (what, true)).await
}

/// Returns the source address of an attacker's client: one of many, or always the same.
fn address(number: u8, spread: bool) -> [u8; 4] {
    match spread {
        true => [127, 0, 4, number % 25 + 1],
        false => ATTACKER,
    }
}

/// Opens more connections than the limit, from one address or from many, none of them idle.
async fn busy(
    findings: &mut Findings,
    server: &Process,
    what: &str,
    spread: bool,
) -> Result<(), Failure> {
    let (bystander, open_connections) = match spread {
        true => {
            // All connections are in use by many addresses: only health and metrics are guaranteed,
            // and a client that connects just when the limit is reached may have to retry.
            let open_connections = unfinished(server, spread).await;
            let probes = health_monitor::control();
            (
                HealthMonitor::start(server.address, probes).await,
                open_connections,
            )
        }
        false => {
            let probes = health_monitor::engine(None);
            let bystander = HealthMonitor::start(server.address, probes).await;
            (bystander, unfinished(server, spread).await)
        }
    };
    outlast(
        findings,
        server,
        bystander,
        open_connections,
        (what, !spread),
    )
    .await
}

/// Opens connections with unfinished bodies.
async fn unfinished(server: &Process, spread: bool) -> Vec<Wire> {
    let mut open_connections = Vec::new();
    for number in 0..BEYOND {
        let from = address(number, spread);
        let Ok(mut client) = Wire::connect(server.address, from).await else {
            continue;
        };
        let head = "POST /v1/data HTTP/1.1\r\nHost: server\r\nContent-Length: 5000\r\n\r\n{";
        // A rejected connection is the intended outcome.
        let _sent = client.send(head.as_bytes()).await;
        open_connections.push(client);
    }
    open_connections
}

/// Holds connections open for a while, and checks that this does not affect the health monitor, nor
/// a new client if there must be room for one.
async fn outlast(
    findings: &mut Findings,
    server: &Process,
    bystander: HealthMonitor,
    open_connections: Vec<Wire>,
    (what, has_capacity): (&str, bool),
) -> Result<(), Failure> {
    sleep(Duration::from_secs(4)).await;
    let before = findings.broken.len();
    let mut waited = None;
    if has_capacity {
        let body = "{\"input\": {\"user\": \"ann\"}}";
        let decision = request("POST", "/v1/data/calm/allow", body);
        let start = Instant::now();
        let answer = exchange(server.address, NEWCOMER, &decision).await;
        waited = Some(start.elapsed().as_secs_f64() * 1e3);
        let result = match answer {
            Ok(answer) if answer.status() == 200 => Ok(()),
            Ok(answer) => Err(answer.status().to_string()),
            Err(error) => Err(error.to_string()),
        };
        findings.succeed("a newcomer's decision", result);
    }
    let watched = bystander.stop().await?;
    drop(open_connections);
    if let Some(waited) = waited {
        let bound = SOON * watched.bound(1.0);
        findings.check(
            format!("a newcomer waited {waited:.0} ms, bound {bound:.0} ms"),
            waited <= bound,
        );
    }
    findings.watch(watched);
    findings.prefix_from(before, what);
    findings.check_memory(server, MOST)
}
