//! Large responses whose clients disconnect or do not read.

use std::time::Duration;

use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness, NEVER};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Wire, request};

/// Returns a policy whose document nests ten references per level: little memory, but 10^25 numbers
/// as JSON.
fn policy() -> String {
    let mut text = "package nest\n\nv0 := [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n".to_owned();
    for level in 1..25 {
        let below = format!("v{}", level - 1);
        let ten = vec![below; 10].join(", ");
        text += &format!("\nv{level} := [{ten}]\n");
    }
    text
}

const MANY: usize = 6;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 1024;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let policy = policy();
    let unlimited = ["--evaluation-timeout", NEVER];
    let nest = [("nest.rego", policy.as_str())];
    let mut server = harness.engine(&unlimited, &nest).await?;
    let query = serde_json::json!({"query": "data.nest.v24 = x"}).to_string();
    let kinds = [
        ("decision", request("POST", "/v1/data/nest/v24", "{}")),
        ("query", request("POST", "/v1/query", &query)),
        ("text", {
            let query = serde_json::json!({"query": "x := json.marshal(data.nest.v24)"});
            request("POST", "/v1/query", &query.to_string())
        }),
    ];
    for (name, request_bytes) in &kinds {
        let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
        let mut clients = Vec::new();
        for number in 0..MANY {
            let mut client = Wire::connect(server.address, ATTACKER).await?;
            client.send(request_bytes).await?;
            if number % 2 == 1 {
                client.send(request_bytes).await?;
            }
            clients.push(client);
        }
        sleep(Duration::from_secs(2)).await;
        drop(clients);
        let rests = server.rests(HANG_LIMIT, 0.3).await?;
        findings.check(format!("{name}: it goes on after its clients left"), rests);
        findings.watch(bystander.stop().await?);
        findings.check_memory(&server, MOST)?;
        if !rests {
            server = harness.engine(&unlimited, &nest).await?;
        }
    }
    let mut open = Vec::new();
    for (_, request_bytes) in &kinds {
        let mut client = Wire::connect(server.address, ATTACKER).await?;
        client.send(request_bytes).await?;
        open.push(client);
    }
    sleep(Duration::from_millis(500)).await;
    findings.end(&mut server).await?;
    Ok(findings)
}
