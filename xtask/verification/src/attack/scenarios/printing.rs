//! Endless printing and tracing by policies.

use serde_json::json;
use tokio::task::JoinSet;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Wire, request};

/// Time limit of an evaluation.
const TIMEOUT: &str = "2s";

/// Number of concurrent requests for each flood.
const TOGETHER: usize = 3;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 1792;

/// Maximum size of the log of a flood, which is the output of one evaluation, in bytes.
const LOG: u64 = 16 << 20;

const POLICY: (&str, &str) = (
    "flood.rego",
    r#"package flood

lines if { some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); print(a, b); false }

long if { some a in numbers.range(1, 300000); print(input.text, a, input.text); false }

nested if { some a in numbers.range(1, 3000); print([b | some b in numbers.range(1, 3000); b > a]); false }

notes if { some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); trace(sprintf("%d %d", [a, b])); false }

texts if { some a in numbers.range(1, 300000); trace(concat(input.text, [input.text, input.text])); a < 0 }

undefined if { some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); print(input.none[a][b]); false }
"#,
);

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let arguments = ["--evaluation-timeout", TIMEOUT, "--log-level", "info"];
    let text = "x".repeat(100_000);
    let body = json!({"input": {"text": text}}).to_string();
    for rule in ["lines", "long", "nested", "notes", "texts", "undefined"] {
        let mut server = harness.engine(&arguments, &[POLICY]).await?;
        let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
        let previous_count = findings.broken.len();
        for explain in ["notes", "full"] {
            let path = format!("/v1/data/flood/{rule}?explain={explain}");
            let request_bytes = request("POST", &path, &body);
            let mut clients = JoinSet::new();
            for _ in 0..TOGETHER {
                let (to, request_bytes) = (server.address, request_bytes.clone());
                clients.spawn(async move {
                    let mut client = Wire::connect(to, ATTACKER).await?;
                    client.send(&request_bytes).await?;
                    client.answer().await
                });
            }
            while let Some(outcome) = clients.join_next().await {
                let result = match outcome? {
                    Ok(answer) if matches!(answer.status(), 200 | 500 | 503) => Ok(()),
                    Ok(answer) => Err(answer.status().to_string()),
                    Err(error) => Err(error.to_string()),
                };
                findings.succeed(explain, result);
            }
        }
        findings.watch(bystander.stop().await?);
        let rests = server.rests(HANG_LIMIT, 0.3).await?;
        findings.check("it goes on when all clients have gone", rests);
        let logged = server.logged()?;
        findings.check(format!("the log has {logged} bytes"), logged <= LOG);
        findings.check_memory(&server, MOST)?;
        findings.end(&mut server).await?;
        findings.prefix_from(previous_count, rule);
    }
    Ok(findings)
}
