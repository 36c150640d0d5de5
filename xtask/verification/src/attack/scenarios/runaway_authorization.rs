//! Runaway evaluations of the authorization policy.

use std::time::Duration;

use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness, NEVER};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Wire, exchange_ok, request};

/// Authorization policy that allows every request, after as much work as the client chooses.
const POLICY: (&str, &str) = (
    "authority.rego",
    "package system.authz\n\ndefault allow := false\n\n\
     allow if not input.params.n\n\n\
     allow if {\n\tn := to_number(input.params.n[0])\n\
     \tcount([1 |\n\t\tr := numbers.range(1, n)\n\t\tsome a in r\n\t\tsome b in r\n\
     \t\tsome c in r\n\t\ta + b + c == -1\n\t]) == 0\n}\n",
);

const MANY: usize = 12;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let arguments = ["--authorization", "basic", "--evaluation-timeout", NEVER];
    let mut server = harness.engine(&arguments, &[POLICY]).await?;
    let quick = request("GET", "/v1/data/calm?n=1", "");
    for _ in 0..5 {
        exchange_ok(server.address, ATTACKER, &quick).await?;
    }
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let endless = request("GET", "/v1/data/calm?n=100000", "");
    let mut clients = Vec::new();
    for number in 0..MANY {
        let mut client = Wire::connect(server.address, ATTACKER).await?;
        client.send(&endless).await?;
        if number % 2 == 0 {
            client.send(&request("GET", "/health", "")).await?;
        }
        clients.push(client);
    }
    sleep(Duration::from_secs(2)).await;
    drop(clients);
    let rests = server.rests(HANG_LIMIT, 0.3).await?;
    findings.check("it goes on after its clients left", rests);
    findings.watch(bystander.stop().await?);
    findings.check_memory(&server, 512)?;
    let mut open = Wire::connect(server.address, ATTACKER).await?;
    open.send(&endless).await?;
    sleep(Duration::from_millis(200)).await;
    findings.end(&mut server).await?;
    Ok(findings)
}
