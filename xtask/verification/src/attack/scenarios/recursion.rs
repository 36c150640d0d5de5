//! Recursion through `with`: replacements that call what they replace.

use serde_json::json;

use Outcome::{Refused, Taken};

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Message, Process, exchange, request};

/// Time limit of an evaluation.
const TIMEOUT: &str = "2s";

/// Numbers of chained rules, of consecutive replacements, and of nested comprehensions.
const DEPTH: usize = 400;
const MANY: usize = 2_000;
const NESTED: usize = 60;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 1792;

/// Expected handling of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Rejected when it is written.
    Refused,
    /// Accepted; requests for its rule `x` end, with or without a result.
    Taken,
}

/// Returns modules whose replacements are recursive or grow, each with a name and the expected
/// handling.
fn modules() -> Vec<(&'static str, Outcome, String)> {
    let calls: &[(&str, Outcome, &str)] = &[
        (
            "a replacement that calls what it replaces",
            Taken,
            "f(a) := count(a)\n\nx := y if { y := count([1]) with count as f }",
        ),
        (
            "two replacements that call what the other replaces",
            Taken,
            "f(a) := to_number(a)\n\ng(a) := count([a])\n\n\
             x := y if { y := count([1]) with count as f with to_number as g }",
        ),
        (
            "a function that is replaced by one that calls it",
            Taken,
            "f(a) := a\n\ng(a) := f([a])\n\nx := y if { y := f(1) with f as g }",
        ),
        (
            "a function that replaces itself",
            Refused,
            "f(a) := y if { y := f(a) with f as f }\n\nx := f(1)",
        ),
        (
            "a rule that asks for itself with other data",
            Refused,
            "x := y if { y := data.m.x with data.d as 1 }",
        ),
        (
            "a rule in the place of a document that it reads",
            Refused,
            "y := data.d\n\nx := z if { z := y with data.d as y with data.e as x }",
        ),
        (
            "a collection that is replaced within its own comprehension",
            Taken,
            "x := y if { y := [a | some a in data.d] with data.d as \
             [b | some b in numbers.range(1, 100000000)] }",
        ),
        (
            "a replacement without an end",
            Taken,
            "f(a) if { some b in numbers.range(1, 1000000); some c in numbers.range(1, 1000000); b + c == a }\n\n\
             x if { is_null(-1) with is_null as f }",
        ),
    ];
    let mut all: Vec<_> = calls
        .iter()
        .map(|(name, fate, rules)| (*name, *fate, (*rules).to_owned()))
        .collect();
    // Each rule evaluates the previous one with a replacement.
    let chain = |first: &str, with: &str| {
        let rules = (1..=DEPTH).map(|at| {
            let below = at - 1;
            format!("r{at} := y if {{ y := r{below} with {with} }}\n")
        });
        let rules: String = rules.collect();
        format!("r0 := {first}\n\n{rules}\nx := r{DEPTH}")
    };
    let suffix: String = (0..MANY)
        .map(|at| format!(" with input.m{at} as {at}"))
        .collect();
    let comprehensions = format!(
        "{}input{}",
        "[y | y := ".repeat(NESTED),
        " with input as [input, input]]".repeat(NESTED)
    );
    all.extend([
        (
            "input that doubles",
            Taken,
            chain("json.marshal(input)", "input as [input, input]"),
        ),
        (
            "documents that double",
            Taken,
            chain("json.marshal(data.d)", "data.d as [data.d, data.d]"),
        ),
        (
            "functions behind functions",
            Taken,
            chain("count([1])", "count as sum with sum as count"),
        ),
        (
            "many behind each other",
            Taken,
            format!("x := y if {{ y := input{suffix} }}"),
        ),
        (
            "comprehensions within each other",
            Taken,
            format!("x := {comprehensions}"),
        ),
    ]);
    all
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let limit = ["--evaluation-timeout", TIMEOUT];
    let mut server = harness.engine(&limit, &[]).await?;
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    for (name, fate, rules) in modules() {
        let previous_count = findings.broken.len();
        let module = format!("package m\n\n{rules}\n");
        let written = send(&server, "PUT", "/v1/policies/m", &module).await;
        let is_taken = matches!(&written, Ok(answer) if answer.status() == 200);
        let response_text = written.as_ref().map(Message::text).unwrap_or_default();
        findings.check(
            format!("written, wanted {fate:?}: {response_text}"),
            is_taken == (fate == Taken),
        );
        if is_taken {
            let unknown = json!({"query": "data.m.x == input.y", "unknowns": ["input"]});
            for (path, body) in [
                ("/v1/data/m/x", json!({"input": {"a": 1}})),
                (
                    "/v1/data/m/x?explain=full&instrument",
                    json!({"input": {"a": 1}}),
                ),
                ("/v1/compile", unknown),
            ] {
                let answered = send(&server, "POST", path, &body.to_string()).await;
                findings.succeed(path, judge(answered));
            }
        }
        let removed = send(&server, "DELETE", "/v1/policies/m", "").await;
        findings.succeed("removed", judge(removed));
        findings.prefix_from(previous_count, name);
    }
    findings.watch(bystander.stop().await?);
    let rests = server.rests(HANG_LIMIT, 0.3).await?;
    findings.check("it goes on when all clients have gone", rests);
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    Ok(findings)
}

async fn send(server: &Process, method: &str, path: &str, body: &str) -> std::io::Result<Message> {
    exchange(server.address, ATTACKER, &request(method, path, body)).await
}

/// Checks that the response is one of a request that may be refused or cancelled.
fn judge(answered: std::io::Result<Message>) -> Result<(), String> {
    match answered {
        Ok(answer) if matches!(answer.status(), 200 | 204 | 400 | 404 | 500 | 503) => Ok(()),
        Ok(answer) => Err(format!("{} {}", answer.status(), answer.text())),
        Err(error) => Err(error.to_string()),
    }
}
