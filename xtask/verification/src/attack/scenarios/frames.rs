//! HTTP/2 floods.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::malformed::ExpectedOutcome::{self, Answered, Refused};
use super::malformed::{SOUND, malformed};
use crate::attack::findings::Findings;
use crate::attack::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Frames, HEADERS, PING, RST_STREAM, SETTINGS,
    Verdict, block, frame, get,
};
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, Process};

/// Number of connections of a flood. More would also use the CPU time of the health monitor, as
/// attackers run on the attacked machine here.
const CONNECTIONS: usize = 2;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 256;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut server = harness.engine(&[], &[]).await?;
    let mut cases = JoinSet::new();
    for (name, bytes, expected) in malformed() {
        cases.spawn(try_one(server.address, name, bytes, expected));
    }
    while let Some(case) = cases.join_next().await {
        let (name, outcome) = case?;
        findings.succeed(name, outcome.map_err(|error| error.to_string()));
    }
    let time = Duration::from_secs(if harness.long { 20 } else { 1 });
    for (name, first, flood) in floods() {
        pour(&mut findings, &server, (name, &first, flood), time).await?;
    }
    findings.end(&mut server).await?;
    Ok(findings)
}

async fn try_one(
    to: SocketAddr,
    name: &'static str,
    bytes: Vec<u8>,
    expected: ExpectedOutcome,
) -> (&'static str, Result<(), Failure>) {
    let outcome = async {
        let mut client = Frames::connect(to, ATTACKER, &[]).await?;
        // The server may refuse before it has read everything.
        let _sent = client.send(&bytes).await;
        let verdict = client.verdict(1).await;
        let is_expected = match expected {
            Refused => matches!(
                verdict,
                Verdict::Closed | Verdict::Reset | Verdict::Answered(400)
            ),
            Answered => verdict == Verdict::Answered(200),
        };
        match is_expected {
            true => Ok(()),
            false => Err(format!("{verdict:?}, wanted {expected:?}").into()),
        }
    };
    (name, outcome.await)
}

/// Function that returns the bytes of one repetition of a flood, by the number of the repetition.
type Flood = fn(u32) -> Vec<u8>;

/// Returns the floods by name, each with the bytes to send first. Clients read no responses.
fn floods() -> Vec<(&'static str, Vec<u8>, Flood)> {
    let unfinished = frame(HEADERS, END_STREAM, 1, &block(SOUND));
    let open = frame(
        HEADERS,
        END_HEADERS,
        1,
        &block(&[SOUND, &[("content-length", "9")]].concat()),
    );
    // Adds a field of 4 KB to the dynamic table, which the flood then refers to with one byte each.
    let mut large = vec![0x40, 1, b'a', 127, 0x81, 0x1f];
    large.extend([b'a'; 4096]);
    let table = frame(HEADERS, END_STREAM, 1, &large);
    vec![
        ("rapid reset", Vec::new(), |number| {
            let stream = number * 2 + 1;
            let mut bytes = get(stream, "/v1/data");
            bytes.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
            bytes
        }),
        ("streams without an end", Vec::new(), |number| {
            get(number * 2 + 1, "/v1/data")
        }),
        ("continuations", unfinished.clone(), |number| {
            let name = format!("x{number}");
            frame(
                CONTINUATION,
                0,
                1,
                &block(&[(&name, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]),
            )
        }),
        ("empty continuations", unfinished, |_| {
            frame(CONTINUATION, 0, 1, &[])
        }),
        ("indexed headers", table, |_| {
            frame(CONTINUATION, 0, 1, &[0xbe; 1_000])
        }),
        ("settings", Vec::new(), |_| frame(SETTINGS, 0, 0, &[])),
        ("pings", Vec::new(), |_| frame(PING, 0, 0, &[7; 8])),
        ("empty data", open, |_| frame(DATA, 0, 1, &[])),
        ("priorities", Vec::new(), |number| {
            frame(2, 0, number * 2 + 1, &[0, 0, 0, 0, 1])
        }),
    ]
}

/// Sends frames for a while, over connections that are reopened when closed.
async fn pour(
    findings: &mut Findings,
    server: &Process,
    (name, first, flood): (&str, &[u8], Flood),
    time: Duration,
) -> Result<(), Failure> {
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (to, first, start) = (server.address, first.to_vec(), Instant::now());
        clients.spawn(async move {
            while start.elapsed() < time {
                let Ok(mut client) = Frames::connect(to, ATTACKER, &[]).await else {
                    continue;
                };
                let mut sent = client.send(&first).await;
                let mut number = 1;
                while sent.is_ok() && start.elapsed() < time {
                    let hundred: Vec<u8> = (number..number + 100).flat_map(flood).collect();
                    number += 100;
                    // A server that stops reading ends this client, not the attack.
                    let more = tokio::time::timeout(time, client.send(&hundred)).await;
                    sent = more.unwrap_or(Ok(()));
                }
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client?;
    }
    let before = findings.broken.len();
    findings.watch(bystander.stop().await?);
    findings.check_memory(server, MOST)?;
    findings.prefix_from(before, name);
    Ok(())
}
