//! Decompression bombs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::task::JoinSet;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, Process, Wire, request_with};

/// Length of the string in a bomb's document, in bytes.
const LENGTH: usize = 400 << 20;

/// Number of concurrent bombs.
const TOGETHER: usize = 8;

/// Limits of the peak memory in MiB: of a server that rejects bombs before decompression, and of
/// one that decompresses them.
const UNASKED: u64 = 128;
const ASKED: u64 = 2048;

const TOKEN: &str = "an-honest-client";

/// Authorization policy that allows every request with the token and none without.
const POLICY: (&str, &str) = (
    "gzip.rego",
    "package system.authz\n\ndefault allow := false\n\n\
     allow if input.identity == \"an-honest-client\"\n",
);

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let bomb = bomb()?;
    let closed = ["--authentication", "token", "--authorization", "basic"];
    let mut server = harness.engine_with_token(TOKEN, &closed, &[POLICY]).await?;
    let bomb_of = |token: &str| {
        let headers = format!("Content-Encoding: gzip\r\n{token}");
        request_with("POST", "/v1/data/calm/allow", &headers, &bomb)
    };
    for (what, token) in [
        ("no token", ""),
        ("another token", "Authorization: Bearer nobody\r\n"),
        ("no bearer", "Authorization: Basic YTpi\r\n"),
    ] {
        let probes = health_monitor::engine(Some(TOKEN));
        drop_bombs(
            &mut findings,
            &server,
            (what, bomb_of(token)),
            probes,
            &[401],
        )
        .await?;
    }
    findings.check_memory(&server, UNASKED)?;
    findings.end(&mut server).await?;
    let mut server = harness.engine(&[], &[]).await?;
    let probes = health_monitor::engine(None);
    let taken = [200, 400, 413, 503];
    drop_bombs(
        &mut findings,
        &server,
        ("open", bomb_of("")),
        probes,
        &taken,
    )
    .await?;
    forms(&mut findings, &server, &bomb).await?;
    findings.check_memory(&server, ASKED)?;
    findings.end(&mut server).await?;
    Ok(findings)
}

/// Returns `{"input": {"x": "aaaa…"}}`, compressed.
fn bomb() -> Result<Vec<u8>, Failure> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"{\"input\": {\"x\": \"")?;
    let piece = vec![b'a'; 1 << 20];
    for _ in 0..LENGTH >> 20 {
        packed.write_all(&piece)?;
    }
    packed.write_all(b"\"}}")?;
    Ok(packed.finish()?)
}

/// Sends bombs concurrently, each of which must be answered with one of these statuses.
async fn drop_bombs(
    findings: &mut Findings,
    server: &Process,
    (what, request): (&str, Vec<u8>),
    probes: Vec<health_monitor::Probe>,
    statuses: &[u16],
) -> Result<(), Failure> {
    let bystander = HealthMonitor::start(server.address, probes).await;
    let mut clients = JoinSet::new();
    for _ in 0..TOGETHER {
        let (to, request) = (server.address, request.clone());
        clients.spawn(async move {
            let mut client = Wire::connect(to, ATTACKER).await?;
            // A server that rejects the request does not read the rest.
            let _sent = client.send(&request).await;
            client.answer().await
        });
    }
    while let Some(client) = clients.join_next().await {
        let result = match client? {
            Ok(answer) if statuses.contains(&answer.status()) => Ok(()),
            Ok(answer) => Err(format!("{} {}", answer.status(), answer.text())),
            Err(error) => Err(error.to_string()),
        };
        findings.succeed(what, result);
    }
    findings.watch(bystander.stop().await?);
    Ok(())
}

/// Damaged archives, and archives within archives.
async fn forms(findings: &mut Findings, server: &Process, bomb: &[u8]) -> Result<(), Failure> {
    let pack = |bytes: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes)?;
        packed.finish()
    };
    let small = pack(b"{\"input\": {\"user\": \"ann\"}}")?;
    let mut corrupt = small.clone();
    if let Some(last) = corrupt.iter_mut().rev().nth(6) {
        *last ^= 0xff;
    }
    let cut: Vec<u8> = small.iter().take(small.len() / 2).copied().collect();
    let empty = pack(b"")?;
    let many: Vec<u8> = std::iter::repeat_n(&empty, 200_000)
        .flatten()
        .copied()
        .collect();
    for (what, body, statuses) in [
        ("whole", &small, &[200][..]),
        ("with a wrong checksum", &corrupt, &[400]),
        ("cut off", &cut, &[400]),
        ("archive of an archive", &pack(bomb)?, &[400]),
        ("many members", &many, &[200, 400]),
        ("nothing", &Vec::new(), &[200, 400]),
    ] {
        let request = request_with(
            "POST",
            "/v1/data/calm/allow",
            "Content-Encoding: gzip\r\n",
            body,
        );
        let answer = crate::servers::exchange(server.address, ATTACKER, &request).await?;
        findings.check(
            format!("{what}: {} {}", answer.status(), answer.text()),
            statuses.contains(&answer.status()),
        );
    }
    Ok(())
}
