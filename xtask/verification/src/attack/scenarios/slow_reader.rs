//! Slow readers: small receive buffers, and HTTP/2 windows that stay closed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::frames::{self, Frames, GOAWAY, INITIAL_WINDOW, RST_STREAM};
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Process, Wire, exchange_ok, request, within};

/// Number of items in the stored document, of nine bytes or more each.
const ITEMS: usize = 2_000_000;

/// Number of HTTP/1 clients, and number of HTTP/2 streams.
const CLIENTS: usize = 30;
const STREAMS: u32 = 200;

/// Write timeout of the server, and how long a client reads nothing, after which it must be
/// disconnected.
const TIMEOUT: &str = "3s";
const GONE: Duration = Duration::from_secs(8);

/// Limit of the server's peak memory, in MiB; the document and its upload use about half of it.
const MOST: u64 = 700;

/// Policy whose response is built anew for each request.
const POLICY: (&str, &str) = ("wrap.rego", "package wrap\n\nbig := [data.big, input.x]\n");

/// Policy whose response shares no part with a stored document.
const LONG: (&str, &str) = (
    "long.rego",
    "package long\n\ntext := concat(\"\", [data.text, input.x])\n",
);

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut arguments = vec!["--max-connections", "300"];
    arguments.extend(harness.setting("engine", "--write-timeout", TIMEOUT));
    let items: Vec<String> = (0..ITEMS)
        .map(|item| format!("{:09}", item + 100_000_000))
        .collect();
    let document = format!("[{}]", items.join(","));
    let mut server = harness.engine(&arguments, &[POLICY]).await?;
    let put = request("PUT", "/v1/data/big", &document);
    exchange_ok(server.address, ATTACKER, &put).await?;
    let stored = request("GET", "/v1/data/big", "");
    let generated = request("POST", "/v1/data/wrap/big", "{\"input\": {\"x\": 1}}");
    let mut clients = JoinSet::new();
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    for (what, request_bytes) in [("stored", &stored), ("made", &generated)] {
        for _ in 0..CLIENTS {
            let mut client =
                Wire::connect_with_buffer(server.address, ATTACKER, Some(2048)).await?;
            client.send(request_bytes).await?;
            clients.spawn(async move {
                sleep(GONE).await;
                // A client that was not disconnected receives the whole response now.
                let cut = client.answer().await;
                (
                    what,
                    cut.is_err_and(|error| error.kind() != io::ErrorKind::TimedOut),
                )
            });
        }
    }
    let streams = windows(&server).await?;
    findings.check("streams without a window were let stay", streams);
    let mut stayed = BTreeMap::new();
    while let Some(client) = clients.join_next().await {
        let (what, closed) = client?;
        *stayed.entry(what).or_insert(0) += usize::from(!closed);
    }
    for (what, stayed) in stayed {
        findings.check(
            format!("{what}: {stayed} of {CLIENTS} that read nothing were let stay"),
            stayed == 0,
        );
    }
    findings.watch(bystander.stop().await?);
    let steady = steady(&server, document.len()).await;
    findings.succeed("a client that reads slowly", steady);
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    spent(harness, &mut findings).await?;
    Ok(findings)
}

/// Checks that requests are refused when unread responses have used up the memory for responses.
async fn spent(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let arguments = ["--response-memory", "32MiB"];
    let mut server = harness.engine(&arguments, &[LONG]).await?;
    let text = format!("\"{}\"", "a".repeat(8 << 20));
    exchange_ok(
        server.address,
        ATTACKER,
        &request("PUT", "/v1/data/text", &text),
    )
    .await?;
    let request_bytes = request("POST", "/v1/data/long/text", "{\"input\": {\"x\": \"b\"}}");
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = Wire::connect_with_buffer(server.address, ATTACKER, Some(2048)).await?;
        client.send(&request_bytes).await?;
        clients.push(client);
    }
    sleep(Duration::from_secs(3)).await;
    let mut rejected = 0;
    for client in clients {
        rejected += usize::from(client.head().await?.status() == 503);
    }
    findings.check(
        format!("{rejected} of {CLIENTS} answers were put off when there was room for 4"),
        rejected >= CLIENTS / 2,
    );
    findings.end(&mut server).await
}

/// Opens many streams with a closed window on one connection; returns whether the server ends them.
async fn windows(server: &Process) -> Result<bool, Failure> {
    let mut client = Frames::connect(server.address, ATTACKER, &[(INITIAL_WINDOW, 0)]).await?;
    let mut open = BTreeSet::new();
    for number in 0..STREAMS {
        let stream = number * 2 + 1;
        open.insert(stream);
        // The server may already have closed the connection.
        let _sent = client.send(&frames::get(stream, "/v1/data/big")).await;
    }
    sleep(GONE).await;
    loop {
        // All frames of the server have already arrived.
        match client.next_within(Duration::from_secs(1)).await {
            Ok(frame) if frame.kind == GOAWAY => return Ok(true),
            Ok(frame) if frame.kind == RST_STREAM => {
                open.remove(&frame.stream);
                if open.is_empty() {
                    return Ok(true);
                }
            }
            Ok(_) => {}
            Err(failure) => return Ok(failure.kind() != io::ErrorKind::TimedOut),
        }
    }
}

/// Checks that a client that reads slowly receives the whole response, however long it takes.
async fn steady(server: &Process, length: usize) -> Result<(), Failure> {
    let mut client = Wire::connect_with_buffer(server.address, ATTACKER, Some(64 << 10)).await?;
    client.send(&request("GET", "/v1/data/big", "")).await?;
    let mut stream = client.into_stream();
    let (mut read, mut piece) = (0, vec![0; 128 << 10]);
    while read < length {
        let more = within(HANG_LIMIT, stream.read(&mut piece)).await?;
        if more == 0 {
            return Err(format!("cut off after {read} of {length} bytes").into());
        }
        read += more;
        sleep(Duration::from_millis(30)).await;
    }
    Ok(())
}
