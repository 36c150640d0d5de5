//! Clients that take connections and say little or nothing on them.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::bystander::{self, Bystander};
use crate::attack::findings::Findings;
use crate::attack::stage::{ATTACKER, Stage};
use crate::servers::{Failure, Process, Wire, request};

/// What the servers here let a client take for the head and the body of a request.
const TIMEOUT: &str = "2s";

/// A client that takes longer must be gone within this time.
const GONE: Duration = Duration::from_secs(7);

/// Clients at once.
const MANY: usize = 250;

/// What the server here takes at most, and more than that.
const LIMIT: &str = "200";
const BEYOND: u8 = 250;

/// Peak memory of the server, in MiB.
const MOST: u64 = 256;

/// What a client does with its connection.
#[derive(Debug, Clone, Copy)]
enum Slow {
    /// A head byte by byte.
    Head,
    /// A body byte by byte.
    Body,
    /// A body in chunks of one byte.
    Chunks,
    /// Nothing.
    Silent,
    /// The beginning of HTTP/2.
    Preface,
}

pub(super) async fn play(stage: &Stage) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let times = ["--header-timeout", TIMEOUT, "--body-timeout", TIMEOUT];
    let mut server = stage.engine(&times, &[]).await?;
    for slow in [
        Slow::Head,
        Slow::Body,
        Slow::Chunks,
        Slow::Silent,
        Slow::Preface,
    ] {
        let bystander = Bystander::start(server.address, bystander::engine(None)).await;
        let mut clients = JoinSet::new();
        for number in 0..MANY {
            // From several addresses, so that no share keeps them out.
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
        findings.hold(
            format!("{slow:?}: {stayed} of {MANY} slow clients were let stay"),
            stayed == 0,
        );
        findings.watch(bystander.stop().await?);
    }
    findings.weigh(&server, MOST)?;
    findings.end(&mut server).await?;
    let crowded = ["--max-connections", LIMIT];
    for (what, spread) in [("idle", false), ("idle from many", true)] {
        let mut server = stage.engine(&crowded, &[]).await?;
        idle(&mut findings, &server, what, spread).await?;
        findings.end(&mut server).await?;
    }
    let mut server = stage.engine(&crowded, &[]).await?;
    busy(&mut findings, &server).await?;
    findings.end(&mut server).await?;
    Ok(findings)
}

/// Whether the server ends the connection in time, or answers that it was too slow.
async fn drip(mut client: Wire, slow: Slow) -> bool {
    let begun = Instant::now();
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
    while begun.elapsed() < GONE {
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

/// More connections than the server takes, each idle after a request.
async fn idle(
    findings: &mut Findings,
    server: &Process,
    what: &str,
    spread: bool,
) -> Result<(), Failure> {
    let bystander = Bystander::start(server.address, bystander::engine(None)).await;
    let mut clients = JoinSet::new();
    for number in 0..BEYOND {
        let to = server.address;
        let from = match spread {
            true => [127, 0, 4, number % 25 + 1],
            false => ATTACKER,
        };
        clients.spawn(async move {
            let mut client = Wire::connect(to, from).await.ok()?;
            client.send(&request("GET", "/health", "")).await.ok()?;
            // One that is kept out gets no answer, which is what is attacked here.
            let _answer = client.answer_within(Duration::from_secs(1)).await;
            Some(client)
        });
    }
    let mut kept = Vec::new();
    while let Some(client) = clients.join_next().await {
        kept.extend(client?);
    }
    sleep(Duration::from_secs(3)).await;
    let watched = bystander.stop().await?;
    drop(kept);
    let before = findings.broken.len();
    findings.watch(watched);
    name(findings, before, what);
    findings.weigh(server, MOST)
}

/// More connections than the server takes from one address, none of them idle.
async fn busy(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    let bystander = Bystander::start(server.address, bystander::engine(None)).await;
    let mut kept = Vec::new();
    for _ in 0..BEYOND {
        let Ok(mut client) = Wire::connect(server.address, ATTACKER).await else {
            continue;
        };
        let head = "POST /v1/data HTTP/1.1\r\nHost: server\r\nContent-Length: 5000\r\n\r\n{";
        // One that is refused at once is what is hoped for.
        let _sent = client.send(head.as_bytes()).await;
        kept.push(client);
    }
    sleep(Duration::from_secs(4)).await;
    let watched = bystander.stop().await?;
    drop(kept);
    let before = findings.broken.len();
    findings.watch(watched);
    name(findings, before, "unfinished bodies from one address");
    findings.weigh(server, MOST)
}

/// Says of what was found since then by what it was found.
fn name(findings: &mut Findings, since: usize, what: &str) {
    for found in findings.broken.iter_mut().skip(since) {
        *found = format!("{what}: {found}");
    }
}
