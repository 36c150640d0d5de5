//! Shutdown under load.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::servers::{Failure, HANG_LIMIT, Sink, Wire, request};

/// Number of clients, each of which opens a connection for every request, so that some connections
/// are always waiting to be accepted.
const CLIENTS: usize = 64;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let rounds = if harness.long { 50 } else { 5 };
    let (mut answered, mut lost, mut missing) = (0, Vec::new(), 0);
    for round in 0..rounds {
        let sink = Sink::new();
        let peer = sink.listen(0).await?;
        let config = harness.logging(peer.address)?;
        let mut server = harness.engine(&["--config-file", &config], &[]).await?;
        let over = Arc::new(AtomicBool::new(false));
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            clients.spawn(client(server.address, Arc::clone(&over)));
        }
        sleep(Duration::from_millis(500 + 13 * round)).await;
        server.signal(Signal::TERM)?;
        let ended = server.wait_for_exit(HANG_LIMIT).await?;
        over.store(true, Ordering::SeqCst);
        findings.check(
            format!("the server has ended with {ended:?}"),
            ended.is_some_and(|status| status.success()),
        );
        let mut ids = Vec::new();
        while let Some(client) = clients.join_next().await {
            let (client_ids, failure) = client?;
            ids.extend(client_ids);
            lost.extend(failure);
        }
        answered += ids.len();
        let there: BTreeSet<String> = sink.ids().into_iter().collect();
        missing += ids.iter().filter(|id| !there.contains(*id)).count();
    }
    findings.check("nothing was answered", answered > 100);
    findings.check(
        format!("{} connections were reset: {:?}", lost.len(), lost.first()),
        lost.is_empty(),
    );
    findings.check(
        format!("{missing} of {answered} decisions are not at the sink"),
        missing == 0,
    );
    Ok(findings)
}

/// Sends requests, each on a new connection, until connections are refused; returns the ids of all
/// decisions, and the error if an accepted connection got no successful response.
async fn client(to: std::net::SocketAddr, over: Arc<AtomicBool>) -> (Vec<String>, Option<String>) {
    let body = json!({"input": {"user": "ann"}}).to_string();
    let request_bytes = request("POST", "/v1/data/calm/allow", &body);
    let mut ids = Vec::new();
    while !over.load(Ordering::SeqCst) {
        let mut wire = match Wire::connect(to, ATTACKER).await {
            Ok(wire) => wire,
            Err(failure) if failure.kind() == io::ErrorKind::ConnectionRefused => break,
            Err(failure) => return (ids, Some(format!("connect: {failure}"))),
        };
        let connected = Instant::now();
        match wire.exchange(&request_bytes).await {
            Ok(answer) if answer.status() == 200 => {
                let body = answer.json();
                let id = body.get("decision_id").and_then(Value::as_str);
                ids.extend(id.map(str::to_owned));
            }
            Ok(answer) => return (ids, Some(format!("{} {}", answer.status(), answer.text()))),
            Err(failure) => {
                let age = connected.elapsed().as_millis();
                return (ids, Some(format!("after {age} ms: {failure}")));
            }
        }
    }
    (ids, None)
}
