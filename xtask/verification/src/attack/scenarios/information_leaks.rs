//! Information leaks through masked values, headers of services, and log lines with strings from
//! clients.

use serde_json::json;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::servers::{Failure, Process, exchange, request, request_with};

/// String that must not be disclosed.
const PASSWORD: &str = "PWSECRET";

const POLICY: (&str, &str) = (
    "leaks.rego",
    "package leaks\n\nsaid if print(input.m)\n\nfails := to_number(input.password)\n\n\
     fails_within := json.unmarshal(input.password)\n\necho := input.password\n",
);

const MASKS: (&str, &str) = (
    "masks.rego",
    "package system.log\n\nmask contains \"/input/password\"\n\nmask contains \"/result\"\n",
);

const AUTHORITY: (&str, &str) = (
    "authority.rego",
    "package system.authz\n\ndefault allow := false\n\n\
     allow if input.path == [\"health\"]\n\nallow if input.path[0] == \"metrics\"\n\n\
     allow if input.path == [\"v1\", \"data\", \"public\"]\n",
);

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    for format in ["text", "json"] {
        forged(harness, &mut findings, format).await?;
    }
    masked(harness, &mut findings).await?;
    configured(harness, &mut findings).await?;
    unauthorized(harness, &mut findings).await?;
    Ok(findings)
}

/// Checks that no line of the log starts with a string from a client.
async fn forged(harness: &Harness, findings: &mut Findings, format: &str) -> Result<(), Failure> {
    let arguments = ["--log-format", format, "--log-level", "info"];
    let mut server = harness.engine(&arguments, &[POLICY]).await?;
    let forged = "2026-01-01T00:00:00Z ERROR forged";
    for separator in [
        "\n",
        "\r",
        "\r\n",
        "\u{2028}",
        "\u{85}",
        "\u{b}",
        "\u{1b}[2K\r",
        "\0\n",
    ] {
        let body = json!({"input": {"m": format!("first{separator}{forged}")}});
        let request_bytes = request("POST", "/v1/data/leaks/said", &body.to_string());
        exchange(server.address, ATTACKER, &request_bytes).await?;
        let path = "/v1/data/x%0A2026-01-01T00:00:00Z%20ERROR%20forged%1B%5B31m";
        exchange(server.address, ATTACKER, &request("GET", path, "")).await?;
    }
    let output = server.output();
    let begins = output.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{b}']);
    let found = begins.filter(|line| line.starts_with(forged)).count();
    findings.check(
        format!("{format}: {found} forged lines in the log"),
        found == 0,
    );
    let control = output
        .chars()
        .filter(|c| c.is_control() && *c != '\n')
        .count();
    findings.check(
        format!("{format}: {control} control characters in the log"),
        control == 0,
    );
    let printed = output.contains("first");
    findings.check(format!("{format}: nothing was printed"), printed);
    findings.end(&mut server).await
}

/// Checks that a masked value occurs nowhere in the decision-log event.
async fn masked(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let arguments = ["--set", "decision_logs.console=true", "--log-level", "info"];
    let mut server = harness.engine(&arguments, &[POLICY, MASKS]).await?;
    for path in [
        "/v1/data/leaks/fails?strict-builtin-errors=true",
        "/v1/data/leaks/fails_within?strict-builtin-errors=true",
        "/v1/data/leaks/echo",
        "/v0/data/leaks/echo",
        "/v1/query",
    ] {
        let input = json!({"password": PASSWORD});
        // The body of a v0 request is the input itself.
        let body = match path.starts_with("/v0/") {
            true => input,
            // The query string repeats the masked value of the input.
            false => json!({
                "input": input,
                "query": format!("x := trim(input.password, \"{PASSWORD}\")"),
            }),
        };
        let request_bytes = request("POST", path, &body.to_string());
        exchange(server.address, ATTACKER, &request_bytes).await?;
        let output = server.output();
        let line = output.lines().find(|line| line.contains(PASSWORD));
        findings.check(format!("{path}: {line:?}"), line.is_none());
    }
    let logged = server.output().contains("leaks/echo");
    findings.check("no decision was logged", logged);
    findings.end(&mut server).await
}

/// Checks that the configuration endpoint discloses no credentials.
async fn configured(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let config = json!({
        "services": {"s": {
            "url": format!("http://user:{PASSWORD}@127.0.0.1:9/?key={PASSWORD}"),
            "headers": {"X-Api-Key": PASSWORD, "Authorization": PASSWORD},
            "credentials": {"bearer": {"token": PASSWORD}},
        }},
        "keys": {"k": {"algorithm": "HS256", "key": PASSWORD}},
    });
    let file = harness.file("config.json", &config.to_string())?;
    let mut server = harness.engine(&["--config-file", &file], &[]).await?;
    for path in ["/v1/config", "/v1/config?pretty=true"] {
        let answer = exchange(server.address, ATTACKER, &request("GET", path, "")).await?;
        let text = answer.text();
        findings.check(format!("{path}: {text}"), !text.contains(PASSWORD));
        findings.check(format!("{path}: no services"), text.contains("127.0.0.1:9"));
    }
    findings.end(&mut server).await
}

/// Checks that a client without permissions learns neither which paths exist nor their methods.
async fn unauthorized(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let arguments = ["--authorization", "basic", "--authentication", "token"];
    let mut server = harness.engine(&arguments, &[AUTHORITY]).await?;
    for method in [
        "GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD", "PROPFIND",
    ] {
        for path in [
            "/v1/data/private",
            "/v1/data",
            "/v1/data/",
            "//v1/data/private",
            "/v1//data/private",
            "/v1/data/public/../private",
            "/v1/policies",
            "/nowhere",
            "/v1/config",
            "/v1/query",
            "/v1/data/public%2F..%2Fprivate",
            "/v1/data/public/%2e%2e/private",
            "/V1/DATA/private",
        ] {
            let status = status(&server, method, path).await?;
            findings.check(format!("{method} {path}: {status}"), status == 401);
        }
    }
    let status = status(&server, "GET", "/v1/data/public").await?;
    findings.check(
        format!("an allowed request has status {status}"),
        status == 200,
    );
    findings.end(&mut server).await
}

async fn status(server: &Process, method: &str, path: &str) -> Result<u16, Failure> {
    let request = request_with(method, path, "Connection: close\r\n", b"");
    let mut wire = crate::servers::Wire::connect(server.address, ATTACKER).await?;
    wire.send(&request).await?;
    Ok(wire.head().await?.status())
}
