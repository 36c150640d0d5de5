//! HTTP/1 request smuggling.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;

use super::requests::CASES;
use super::requests::ExpectedOutcome::{self, Answers, Last, Refused, Status};
use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness, NEVER};
use crate::attack::tenancy;
use crate::servers::{Failure, HANG_LIMIT, Wire};

/// Time without data after the last expected response, after which no further response is expected.
const QUIET: Duration = Duration::from_millis(1_500);

/// Request after the head, which would be separate if the body ended earlier.
const HIDDEN: &str = "GET /health?hidden HTTP/1.1\r\nHost: a\r\n\r\n";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    // Long timeouts, so that connections are closed only because of the requests.
    let limits = ["--header-timeout", NEVER, "--body-timeout", NEVER];
    let mut engine = harness.engine(&limits, &[]).await?;
    let mut control = tenancy::plane(harness, &limits).await?;
    for (server, path) in [
        (&engine, "/v1/data/calm/allow"),
        (&control.process, "/v1/sources"),
    ] {
        let mut cases = JoinSet::new();
        for (name, text, expected) in CASES {
            cases.spawn(try_one(server.address, path, name, text, *expected));
        }
        for (name, text) in long() {
            let to = server.address;
            cases.spawn(async move { try_one(to, "", name, &text, Refused).await });
        }
        while let Some(case) = cases.join_next().await {
            let (name, outcome) = case?;
            findings.succeed(&format!("{path}: {name}"), outcome);
        }
    }
    trailing(&mut findings, engine.address).await?;
    findings.check_memory(&engine, 128)?;
    findings.end(&mut engine).await?;
    findings.end(&mut control.process).await?;
    Ok(findings)
}

/// Returns the requests that are too long for the table of cases.
fn long() -> [(&'static str, String); 2] {
    let head = "GET /health HTTP/1.1\r\nHost: a\r\n";
    let many: String = (0..101).map(|number| format!("X{number}: a\r\n")).collect();
    [
        ("101 headers", format!("{head}{many}\r\nHIDDEN")),
        (
            "1 MiB header",
            format!("{head}X: {}\r\n\r\nHIDDEN", "a".repeat(1 << 20)),
        ),
    ]
}

/// Sends the bytes of a case; returns the deviation from the expected outcome.
async fn try_one(
    to: SocketAddr,
    path: &str,
    name: &'static str,
    text: &str,
    expected: ExpectedOutcome,
) -> (&'static str, Result<(), String>) {
    let text = match text.strip_prefix("POST") {
        Some(rest) if rest.starts_with("\r\n") => format!("POST {path} HTTP/1.1{rest}"),
        Some(rest) if rest.starts_with("/1.0") => {
            format!("POST {path} HTTP{rest}")
        }
        _ => text.to_owned(),
    };
    let length = HIDDEN.len().to_string();
    let text = text.replace("HIDDEN", HIDDEN).replace("LENGTH", &length);
    (name, exchange(to, &text, expected).await)
}

async fn exchange(to: SocketAddr, text: &str, expected: ExpectedOutcome) -> Result<(), String> {
    let client = Wire::connect(to, ATTACKER).await;
    let mut client = client.map_err(|error| error.to_string())?;
    // The server may refuse before it has read everything.
    let _sent = client.send(text.as_bytes()).await;
    let mut statuses = Vec::new();
    let closed = loop {
        let is_more_due = match expected {
            Refused | Last => true,
            Answers(number) => statuses.len() < number,
            Status(_) => statuses.is_empty(),
        };
        let time = if is_more_due { HANG_LIMIT } else { QUIET };
        match client.answer_within(time).await {
            Ok(answer) => statuses.push(answer.status()),
            Err(failure) => break failure.kind() != std::io::ErrorKind::TimedOut,
        }
    };
    let is_expected = match (expected, statuses.as_slice()) {
        (Refused, []) | (Last, [] | [_]) => closed,
        (Refused, [status]) => closed && (400..600).contains(status),
        (Answers(number), statuses) => {
            statuses.len() == number && statuses.iter().all(|status| *status < 500)
        }
        (Status(code), [status]) => *status == code,
        _ => false,
    };
    match is_expected {
        true => Ok(()),
        false => {
            let end = if closed { "closed" } else { "left open" };
            Err(format!(
                "answered {statuses:?} and {end}, wanted {expected:?}"
            ))
        }
    }
}

/// Sends bodies that two parsers could read as different documents.
async fn trailing(findings: &mut Findings, to: SocketAddr) -> Result<(), Failure> {
    for (method, path, body) in [
        ("PUT", "/v1/data/j", "{}x"),
        ("PUT", "/v1/data/j", "{}{}"),
        (
            "POST",
            "/v1/data/calm/allow",
            "{\"input\": {\"user\": \"ann\"}}{\"input\": {}}",
        ),
        ("POST", "/v1/query", "{\"query\": \"x = 1\"}]"),
        ("PATCH", "/v1/data", "[][]"),
    ] {
        let request = crate::servers::request(method, path, body);
        let answer = crate::servers::exchange(to, ATTACKER, &request).await?;
        findings.check(
            format!("{method} {path} with {body}: {}", answer.status()),
            answer.status() == 400,
        );
    }
    Ok(())
}
