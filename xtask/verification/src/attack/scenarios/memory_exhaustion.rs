//! Memory exhaustion by evaluations.

use tokio::task::JoinSet;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, Wire, exchange, request};

/// Number of concurrent requests for each bomb.
const TOGETHER: usize = 4;

/// Limit of the server's peak memory, in MiB: the budget of all evaluations is 1 GiB, which counts
/// the values that they create; the allocator's overhead comes on top.
const MOST: u64 = 1792;

/// Queries whose memory grows without bound.
const BOMBS: &[(&str, &str)] = &[
    (
        "triples",
        "x := {[a, b, c] | some a in numbers.range(1, 300); some b in numbers.range(1, 300); \
         some c in numbers.range(1, 300)}",
    ),
    (
        "arrays of triples",
        "x := [[a, b, c] | some a in numbers.range(1, 300); some b in numbers.range(1, 300); \
         some c in numbers.range(1, 300)]",
    ),
    (
        "objects",
        "x := {sprintf(\"%d-%d-%d\", [a, b, c]): [a, b, c] | some a in numbers.range(1, 300); \
         some b in numbers.range(1, 300); some c in numbers.range(1, 300)}",
    ),
    (
        "long strings",
        "s := concat(\"\", [\"0123456789\" | some _ in numbers.range(1, 100000)]); \
         x := [upper(sprintf(\"%s%d\", [s, a])) | some a in numbers.range(1, 100000)]",
    ),
    (
        "split",
        "s := concat(\",\", [\"a\" | some _ in numbers.range(1, 1000000)]); \
         x := [split(sprintf(\"%s%d\", [s, a]), \",\") | some a in numbers.range(1, 1000)]",
    ),
    (
        "ranges",
        "x := [numbers.range(a, a + 1000000) | some a in numbers.range(1, 1000)]",
    ),
    (
        "json.marshal",
        "s := json.marshal(numbers.range(1, 300000)); \
         x := [json.marshal([s, a]) | some a in numbers.range(1, 10000)]",
    ),
];

/// Returns a query that doubles a value 40 times, starting from `first`.
fn doubling(step: &str, first: &str) -> String {
    let steps = (0..40).map(|at| {
        step.replace("NEXT", &format!("v{}", at + 1))
            .replace("LAST", &format!("v{at}"))
    });
    std::iter::once(format!("v0 := {first}"))
        .chain(steps)
        .collect::<Vec<_>>()
        .join("; ")
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut bombs: Vec<(&str, String)> = BOMBS
        .iter()
        .map(|(name, query)| (*name, (*query).to_owned()))
        .collect();
    for (name, step, first) in [
        (
            "array.concat",
            "NEXT := array.concat(LAST, LAST)",
            "[1, 2, 3]",
        ),
        (
            "concat",
            "NEXT := concat(\"\", [LAST, LAST])",
            "\"abcdefgh\"",
        ),
        (
            "sprintf",
            "NEXT := sprintf(\"%s%s\", [LAST, LAST])",
            "\"abcdefgh\"",
        ),
        (
            "base64",
            "NEXT := base64.encode(concat(\"\", [LAST, LAST]))",
            "\"abcdefgh\"",
        ),
        (
            "replace",
            "NEXT := replace(LAST, \"a\", \"aa\")",
            "\"aaaa\"",
        ),
    ] {
        bombs.push((name, doubling(step, first)));
    }
    let mut server = harness.engine(&[], &[]).await?;
    for (name, query) in bombs {
        let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
        let body = serde_json::json!({"query": query}).to_string();
        let mut clients = JoinSet::new();
        for _ in 0..TOGETHER {
            let (to, request_bytes) = (server.address, request("POST", "/v1/query", &body));
            clients.spawn(async move {
                let mut client = Wire::connect(to, ATTACKER).await?;
                client.send(&request_bytes).await?;
                client.answer().await
            });
        }
        while let Some(outcome) = clients.join_next().await {
            let result = match outcome? {
                Ok(answer) if matches!(answer.status(), 200 | 400 | 500 | 503) => Ok(()),
                Ok(answer) => Err(format!("{} {}", answer.status(), answer.text())),
                Err(error) => Err(error.to_string()),
            };
            findings.succeed(name, result);
        }
        let before = findings.broken.len();
        findings.watch(bystander.stop().await?);
        let peak = server.peak()? >> 10;
        findings.check_memory(&server, MOST)?;
        findings.prefix_from(before, name);
        if peak > MOST {
            // Restarts the server, so that the peak of one bomb does not count for the next.
            server = harness.engine(&[], &[]).await?;
        }
    }
    findings.end(&mut server).await?;
    counted(harness, &mut findings).await?;
    Ok(findings)
}

/// Checks that all created values and their memory count, even if few values are live at a time.
async fn counted(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    for (flag, limit, query, status) in [
        (
            "--evaluation-values",
            "10000",
            "x := count(numbers.range(1, 1000))",
            200,
        ),
        (
            "--evaluation-values",
            "10000",
            "x := count(numbers.range(1, 100000))",
            500,
        ),
        (
            "--evaluation-values",
            "10000",
            "x := count([1 | some a in numbers.range(1, 300); some b in numbers.range(1, 300)])",
            500,
        ),
        (
            "--evaluation-memory",
            "4MiB",
            "x := count([[a, b] | some a in numbers.range(1, 500); some b in numbers.range(1, 500)])",
            503,
        ),
    ] {
        let mut server = harness.engine(&[flag, limit], &[]).await?;
        let body = serde_json::json!({"query": query}).to_string();
        let request_bytes = request("POST", "/v1/query", &body);
        let found = exchange(server.address, ATTACKER, &request_bytes)
            .await?
            .status();
        findings.check(format!("{flag} {limit}: {query}: {found}"), found == status);
        findings.end(&mut server).await?;
    }
    Ok(())
}
