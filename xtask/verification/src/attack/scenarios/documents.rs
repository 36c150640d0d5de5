//! JSON and YAML documents that are expensive to parse, and bodies in many chunks.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, Process, Wire, exchange, request, request_with};

/// Limit of the server's peak memory, in MiB: the budget for request bodies is 1 GiB.
const MOST: u64 = 1536;

/// Maximum ratio of the parsing cost when a document is four times as large: linear is 4, quadratic
/// 16.
const RATIO: f64 = 8.0;

/// Number of concurrent clients.
const TOGETHER: usize = 8;

const YAML: &str = "Content-Type: application/yaml\r\n";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut server = harness.engine(&[], &[]).await?;
    json(&mut findings, &server).await?;
    yaml(&mut findings, &server).await?;
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    let mut server = harness.engine(&[], &[]).await?;
    pieces(&mut findings, &server).await?;
    unfinished(&mut findings, &server).await?;
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    Ok(findings)
}

/// Sends JSON documents on which a careless parser recurses deeply or computes for long.
async fn json(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let million = 1_000_000;
    let documents = [
        ("arrays", "[".repeat(million)),
        ("closed arrays", "[".repeat(million) + &"]".repeat(million)),
        ("objects", "{\"a\":".repeat(million)),
        ("exponent", "{\"input\": 1e999999999999999999}".to_owned()),
        (
            "small exponent",
            "{\"input\": 1e-999999999999999999}".to_owned(),
        ),
        ("digits", format!("{{\"input\": {}}}", "9".repeat(million))),
        ("many keys", {
            let keys: Vec<String> = (0..300_000).map(|key| format!("\"{key}\":0")).collect();
            format!("{{\"input\": {{{}}}}}", keys.join(","))
        }),
        ("one key often", {
            let keys = vec!["\"a\":0"; 300_000];
            format!("{{\"input\": {{{}}}}}", keys.join(","))
        }),
        (
            "escapes",
            format!("{{\"input\": \"{}\"}}", "\\u0000".repeat(million)),
        ),
        (
            "half surrogates",
            format!("{{\"input\": \"{}\"}}", "\\ud800".repeat(1000)),
        ),
    ];
    for (what, document) in documents {
        let request_bytes = request("POST", "/v1/data/calm/allow", &document);
        let mut clients = JoinSet::new();
        for _ in 0..TOGETHER {
            let (to, request_bytes) = (server.address, request_bytes.clone());
            clients.spawn(async move { exchange(to, ATTACKER, &request_bytes).await });
        }
        while let Some(client) = clients.join_next().await {
            let result = match client? {
                Ok(answer) if matches!(answer.status(), 200 | 400 | 503) => Ok(()),
                Ok(answer) => Err(answer.status().to_string()),
                Err(error) => Err(error.to_string()),
            };
            findings.succeed(what, result);
        }
    }
    findings.watch(bystander.stop().await?);
    Ok(())
}

/// Sends YAML with nested brackets and anchors: measures the growth of the cost, and the effect on
/// other clients.
async fn yaml(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    type Make = fn(usize) -> String;
    let kinds: [(&str, Make); 4] = [
        ("[", |n| format!("input: {}", "[".repeat(n))),
        ("{a:", |n| format!("input: {}", "{a: ".repeat(n))),
        ("[a: b,", |n| format!("input: [{}]", "a: b,".repeat(n))),
        ("- - -", |n| format!("input:\n {}x", "- ".repeat(n))),
    ];
    for (what, make) in kinds {
        let mut costs = Vec::new();
        for size in [2_400, 9_600] {
            let request = request_with("POST", "/v1/data/calm/allow", YAML, make(size).as_bytes());
            let before = server.cpu()?;
            for _ in 0..20 {
                exchange(server.address, ATTACKER, &request).await?;
            }
            costs.push((server.cpu()? - before).as_secs_f64());
        }
        if let [one, four] = costs.as_slice() {
            // A CPU time too short to measure is cheap enough.
            let ratio = four / one.max(0.04);
            findings.check(
                format!("YAML {what}: four times as many cost {ratio:.1} times as much"),
                ratio <= RATIO,
            );
        }
    }
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    for document in [
        format!("input: {}", "[".repeat(9_900)),
        format!("input: [{}]", "a: b,".repeat(500_000)),
        format!(
            "a: &a [{}]\ninput: [{}]",
            "x,".repeat(1000),
            "*a,".repeat(100_000)
        ),
    ] {
        let request = request_with("POST", "/v1/data/calm/allow", YAML, document.as_bytes());
        let mut clients = JoinSet::new();
        for _ in 0..TOGETHER {
            let (to, request) = (server.address, request.clone());
            clients.spawn(async move { exchange(to, ATTACKER, &request).await });
        }
        while let Some(client) = clients.join_next().await {
            let result = client?.map(drop).map_err(|error| error.to_string());
            findings.succeed("YAML from many", result);
        }
    }
    findings.watch(bystander.stop().await?);
    Ok(())
}

/// Sends bodies in chunks of one byte.
async fn pieces(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let head = "POST /v1/data/calm/allow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = format!(
        "{{\"input\": {{\"user\": \"ann\", \"x\": \"{}\"}}}}",
        "a".repeat(500_000)
    );
    let mut bytes = head.as_bytes().to_vec();
    for byte in body.bytes() {
        bytes.extend([b'1', b'\r', b'\n', byte, b'\r', b'\n']);
    }
    bytes.extend(b"0\r\n\r\n");
    let mut clients = JoinSet::new();
    for _ in 0..TOGETHER {
        let (to, request) = (server.address, bytes.clone());
        clients.spawn(async move { Wire::connect(to, ATTACKER).await?.exchange(&request).await });
    }
    while let Some(client) = clients.join_next().await {
        let result = match client? {
            Ok(answer) if matches!(answer.status(), 200 | 503) => Ok(()),
            Ok(answer) => Err(format!("{} {}", answer.status(), answer.text())),
            Err(error) => Err(error.to_string()),
        };
        findings.succeed("chunks of one byte", result);
    }
    findings.watch(bystander.stop().await?);
    Ok(())
}

/// Sends large bodies that are never completed.
async fn unfinished(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let head = format!(
        "PUT /v1/data/x HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
        250 << 20
    );
    let piece = vec![b' '; 1 << 20];
    let mut clients = JoinSet::new();
    for _ in 0..24 {
        let (to, head, piece) = (server.address, head.clone(), piece.clone());
        clients.spawn(async move {
            let mut client = Wire::connect(to, ATTACKER).await?;
            client.send(head.as_bytes()).await?;
            for _ in 0..100 {
                // A server without memory for it refuses the body or stops reading.
                let sent = tokio::time::timeout(Duration::from_secs(1), client.send(&piece)).await;
                if !matches!(sent, Ok(Ok(()))) {
                    break;
                }
            }
            Ok::<_, Failure>(client)
        });
    }
    let mut open_connections = Vec::new();
    while let Some(client) = clients.join_next().await {
        open_connections.extend(client?.ok());
    }
    sleep(Duration::from_secs(1)).await;
    findings.watch(bystander.stop().await?);
    Ok(())
}
