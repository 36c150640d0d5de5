//! Exhaustion of the builders by one tenant: endless builds, a revision that expands to 2^60
//! values, builds that end the process, and stacks with the maximum number of patterns.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::tenancy::{self, ControlPlane, User, built, eventually};
use crate::servers::{Failure, HANG_LIMIT};

/// Expression whose evaluation never ends and creates few values.
const ENDLESS: &str = "sprintf(\"%d\", [count([1 | r := numbers.range(1, 100000); some a in r; \
                       some b in r; some c in r; a + b + c == -1])])";

/// Number of endless builds, more than a control plane runs at the same time.
const MANY: usize = 6;

/// Number of bundles with a label that stacks select.
const LABELLED: usize = 1500;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 1024;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    endless(harness, &mut findings).await?;
    unfolding(harness, &mut findings).await?;
    killed(harness, &mut findings).await?;
    selectors(harness, &mut findings).await?;
    Ok(findings)
}

/// Checks that the patterns of stacks do not delay writes.
async fn selectors(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let mut plane = tenancy::plane(harness, &[]).await?;
    let (owner, stacker) = (plane.person("first"), plane.person("stacker"));
    for number in 0..LABELLED {
        let value = format!("a{}{number}", "n".repeat(100));
        let body = json!({"labels": {"l": value}, "requirements": []});
        owner
            .put(&format!("/v1/bundles/labelled-{number}"), body)
            .await?;
    }
    let stack = |patterns: usize, pattern: &str| {
        let patterns: Vec<_> = (0..patterns).map(|at| format!("{pattern}{at}")).collect();
        json!({"selector": {"l": patterns}, "requirements": []})
    };
    for (patterns, pattern) in [(20_000, "*a*".repeat(30)), (101, "a".to_owned())] {
        let body = stack(patterns, &pattern);
        let (status, _) = stacker.send("PUT", "/v1/stacks/large", &body).await?;
        findings.check(
            format!("a stack with {patterns} patterns: {status}"),
            status == 400,
        );
    }
    for number in 0..5 {
        let body = stack(100, &"*n?".repeat(4));
        stacker
            .put(&format!("/v1/stacks/many-{number}"), body)
            .await?;
    }
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        let write = Instant::now();
        let (status, _) = owner.send("PUT", "/v1/sources/beside", &json!({})).await?;
        let elapsed = write.elapsed();
        findings.check(
            format!("a write beside stacks: {status} after {elapsed:?}"),
            status == 200 && elapsed < Duration::from_secs(2),
        );
        sleep(Duration::from_millis(100)).await;
    }
    findings.check_memory(&plane.process, MOST)?;
    findings.end(&mut plane.process).await
}

/// Starts a control plane without a time limit for evaluations.
async fn unlimited(harness: &Harness) -> Result<ControlPlane, Failure> {
    let time = harness.setting("control", "--build-evaluation-timeout", "0");
    tenancy::plane(harness, &time).await
}

/// Creates a bundle whose revision is this expression.
async fn put(person: User, name: &str, revision: &str) -> Result<(), Failure> {
    let body = json!({
        "object_storage": {"filesystem": {"path": format!("{name}.tgz")}},
        "revision": revision,
    });
    person.put(&format!("/v1/bundles/{name}"), body).await
}

/// Waits until the latest status of a bundle has this value; returns its error message.
async fn status(person: User, bundle: &str, expected: &str) -> Result<String, Failure> {
    let path = format!("/v1/bundles/{bundle}/status/latest");
    let start = Instant::now();
    loop {
        let (_, response) = person.send("GET", &path, &Value::Null).await?;
        let text = |name: &str| {
            let found = response.pointer(&format!("/result/{name}"));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        if text("status") == expected {
            return Ok(text("error_message"));
        }
        if start.elapsed() > HANG_LIMIT {
            return Err(format!("{bundle} is not {expected}: {response}").into());
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Bundles of other owners are written while no build of this owner ever ends.
async fn endless(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let mut plane = unlimited(harness).await?;
    let owner = plane.person("first");
    for number in 0..MANY {
        put(owner, &format!("endless-{number}"), ENDLESS).await?;
    }
    for (name, other) in [("of-second", "second"), ("of-admin", "admin")] {
        let file = format!("{name}.tgz");
        plane.person(other).bundle(name, &file, json!(1)).await?;
        let written = eventually(name, || built(harness, &file).is_some()).await;
        findings.succeed("a bundle beside endless builds of another owner", written);
    }
    for number in 0..MANY {
        let path = format!("/v1/bundles/endless-{number}/status/latest");
        let (status, response) = owner.send("GET", &path, &Value::Null).await?;
        findings.check(
            format!("an endless build has ended: {status} {response}"),
            status == 404,
        );
        let path = format!("/v1/bundles/endless-{number}");
        owner.send("DELETE", &path, &Value::Null).await?;
    }
    findings.check_memory(&plane.process, MOST)?;
    findings.end(&mut plane.process).await
}

/// Values that expand to 2^60 through shared parts fail the build, but not the server.
async fn unfolding(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let steps = (1..60).map(|at| format!("x{at} := [x{0}, x{0}]; ", at - 1));
    let shared = steps.fold("x0 := [1]; ".to_owned(), |all, step| all + &step);
    let schema = r#"{"properties":{"a":{"items":{"type":"array"}}}}"#;
    let mut plane = tenancy::plane(harness, &[]).await?;
    let owner = plane.person("first");
    for (name, value) in [
        (
            "schema",
            format!("json.match_schema({{\"a\": x59}}, {schema})"),
        ),
        ("text", "sprintf(\"%v\", [x59])".to_owned()),
        ("result", "x59".to_owned()),
        ("set", "{x59, [x59]}".to_owned()),
    ] {
        let name = format!("unfolds-{name}");
        put(owner, &name, &format!("[r | {shared}r := {value}]")).await?;
        let failed = status(owner, &name, "BUILD_FAILED").await;
        findings.succeed(&name, failed.map(drop));
    }
    let written = plane.person("admin").bundle("after", "after.tgz", json!(1));
    written.await?;
    let written = eventually("after", || built(harness, "after.tgz").is_some()).await;
    findings.succeed("a bundle after values that unfold", written);
    findings.check_memory(&plane.process, MOST)?;
    findings.end(&mut plane.process).await
}

/// A bundle whose build is killed twice with the process is not built a third time.
async fn killed(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let mut plane = unlimited(harness).await?;
    put(plane.person("first"), "killer", ENDLESS).await?;
    for death in 1..=2 {
        let file = format!("killed-{death}.tgz");
        let admin = plane.person("admin");
        admin
            .bundle(&format!("killed-{death}"), &file, json!(death))
            .await?;
        let written = eventually(&file, || built(harness, &file).is_some()).await;
        findings.succeed("a bundle of others", written);
        // The build is tried when nothing else is built; only it uses this much CPU time.
        let before = plane.process.cpu()?;
        let works = eventually("it is tried", || {
            let taken = plane.process.cpu().unwrap_or_default();
            taken.saturating_sub(before) > Duration::from_secs(1)
        });
        findings.succeed(&format!("before death {death}"), works.await);
        plane.process.kill();
        plane = unlimited(harness).await?;
    }
    let failed = status(plane.person("first"), "killer", "INTERNAL_ERROR").await;
    findings.succeed(
        "it is not built a third time",
        failed.and_then(|error| match error.contains("the process ended") {
            true => Ok(()),
            false => Err(error.into()),
        }),
    );
    put(plane.person("first"), "killer", "\"r\"").await?;
    let again = status(plane.person("first"), "killer", "SUCCESS").await;
    findings.succeed("another definition is built", again.map(drop));
    findings.check_memory(&plane.process, MOST)?;
    findings.end(&mut plane.process).await
}
