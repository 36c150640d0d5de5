//! Storage locations of other tenants.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::attack::tenancy::{self, User, built, eventually, in_file};
use crate::servers::Failure;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut plane = tenancy::plane(harness, &["--allow-host", "127.0.0.1"]).await?;
    let bystander = HealthMonitor::start(plane.process.address, health_monitor::control()).await;
    let (admin, first) = (plane.person("admin"), plane.person("first"));
    deep(&mut findings, first).await?;
    places(harness, &mut findings, admin, first).await?;
    races(harness, &mut findings, first, plane.person("second")).await?;
    findings.watch_in_company(bystander.stop().await?);
    findings.check_memory(&plane.process, 256)?;
    findings.end(&mut plane.process).await?;
    let prefixed = [
        "--owner-prefix",
        "owners",
        "--database",
        "sqlite:prefixed.db",
    ];
    let mut plane = tenancy::plane(harness, &prefixed).await?;
    prefixes(&mut findings, plane.person("first")).await?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Name of a symbolic link to the bundle file of another owner.
const LINK: &str = "link.tgz";

/// Spellings of the path of another owner's bundle.
const DISGUISES: &[&str] = &[
    "good.tgz",
    "./good.tgz",
    ".//good.tgz",
    "sub/../good.tgz",
    "ROOT/good.tgz",
    "ROOT//good.tgz",
    "ROOT/./good.tgz",
    LINK,
    "linked/good.tgz",
    // Some file systems and servers do not distinguish these.
    "GOOD.tgz",
    "good%2Etgz",
    "good%252etgz",
    // The path would need a folder where the bundle is a file.
    "good.tgz/x",
    "ROOT/linked/Good.tgz/x/y",
];

/// Host names of the loopback interface.
const LOOPBACK: &[&str] = &[
    "0.0.0.0",
    "127.1.2.3",
    "localhost",
    "ip6-localhost",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
];

/// Checks that a location belongs to one bundle, whatever its spelling.
async fn places(
    harness: &Harness,
    findings: &mut Findings,
    admin: User,
    first: User,
) -> Result<(), Failure> {
    let root = harness.inner("built")?;
    admin.bundle("good", "good.tgz", json!("right")).await?;
    let right = json!({"good": "right"});
    let there = eventually("the bundle", || {
        built(harness, "good.tgz").as_ref() == Some(&right)
    });
    findings.succeed("good.tgz", there.await);
    std::os::unix::fs::symlink("good.tgz", format!("{root}/link.tgz"))?;
    std::os::unix::fs::symlink(".", format!("{root}/linked"))?;
    first.put("/v1/sources/evil", json!({})).await?;
    first
        .put("/v1/sources/evil/data/good", json!("EVIL"))
        .await?;
    for disguise in DISGUISES {
        let path = disguise.replace("ROOT", &root);
        let body = in_file(&path, &json!([{"source": "evil"}]));
        let (status, response) = first.send("PUT", "/v1/bundles/evil", &body).await?;
        // A link at the path itself would be replaced, not followed.
        findings.check(
            format!("a second bundle at {disguise}: {status} {response}"),
            matches!(status, 400 | 409 | 422) || *disguise == LINK,
        );
        if status == 200 {
            sleep(Duration::from_secs(2)).await;
            let bundle_data = built(harness, "good.tgz");
            findings.check(
                format!("{disguise}: good.tgz holds {bundle_data:?}"),
                bundle_data.as_ref() == Some(&right),
            );
            first
                .send("DELETE", "/v1/bundles/evil", &Value::Null)
                .await?;
        }
    }
    // The right bundle is at the location in the end.
    let there = eventually("good.tgz again", || {
        built(harness, "good.tgz").as_ref() == Some(&right)
    });
    findings.succeed("after all", there.await);
    for storage in [
        json!({"aws": {"bucket": "b", "key": "k.tgz", "region": "us-east-1", "url": "http://127.0.0.1:9"}}),
        json!({"azure": {"account_url": "http://127.0.0.1:9/acc", "container": "b", "path": "k.tgz"}}),
        json!({"gcp": {"project": "p", "bucket": "b", "object": "k.tgz"}}),
    ] {
        let body = json!({"object_storage": storage, "requirements": [{"source": "good"}]});
        admin.put("/v1/bundles/remote", body).await?;
        let body = json!({"object_storage": storage, "requirements": [{"source": "evil"}]});
        let (status, _) = first.send("PUT", "/v1/bundles/evil", &body).await?;
        findings.check(
            format!("a second bundle at {storage}: {status}"),
            status == 409,
        );
    }
    let at = |host: &str| {
        let url = format!("http://{host}:9");
        json!({"aws": {"bucket": "b", "key": "k.tgz", "region": "us-east-1", "url": url}})
    };
    let body = json!({"object_storage": at("127.0.0.1"), "requirements": [{"source": "good"}]});
    admin.put("/v1/bundles/remote", body).await?;
    for host in LOOPBACK {
        let body = json!({"object_storage": at(host), "requirements": [{"source": "evil"}]});
        let (status, _) = first.send("PUT", "/v1/bundles/evil", &body).await?;
        findings.check(
            format!("a second bundle at {host}: {status}"),
            status == 409,
        );
    }
    admin
        .send("DELETE", "/v1/bundles/remote", &Value::Null)
        .await?;
    Ok(())
}

/// Checks that deep paths, which are slow to resolve, are rejected.
async fn deep(findings: &mut Findings, first: User) -> Result<(), Failure> {
    let folders = "a/".repeat(1_900);
    for number in 0..100 {
        let body = in_file(&format!("z/{folders}x{number}"), &json!([]));
        let path = format!("/v1/bundles/deep-{number}");
        let (status, _) = first.send("PUT", &path, &body).await?;
        findings.check(
            format!("a bundle in 1,900 folders: {status}"),
            matches!(status, 400 | 422),
        );
    }
    Ok(())
}

/// Checks that of two concurrent claims to a location, one succeeds.
async fn races(
    harness: &Harness,
    findings: &mut Findings,
    first: User,
    second: User,
) -> Result<(), Failure> {
    let rounds = if harness.long { 200 } else { 20 };
    for person in [first, second] {
        let source = format!("race-{}", if person.name() == "first" { 1 } else { 2 });
        person
            .put(&format!("/v1/sources/{source}"), json!({}))
            .await?;
    }
    let mut doubled = 0;
    for round in 0..rounds {
        let file = format!("race-{round}.tgz");
        let claim = |person: User, number: u8| {
            let requirements = json!([{"source": format!("race-{number}")}]);
            let body = in_file(&file, &requirements);
            let path = format!("/v1/bundles/race-{round}-{number}");
            async move { person.send("PUT", &path, &body).await }
        };
        let (one, other) = tokio::join!(claim(first, 1), claim(second, 2));
        doubled += usize::from(one?.0 == 200 && other?.0 == 200);
    }
    findings.check(
        format!("{doubled} of {rounds} places have two bundles after a race"),
        doubled == 0,
    );
    Ok(())
}

/// Checks that with a folder per owner, no bundle can be outside of its owner's folder.
async fn prefixes(findings: &mut Findings, first: User) -> Result<(), Failure> {
    for (path, taken) in [
        ("mine.tgz", false),
        ("owners/mine.tgz", false),
        ("owners/first", false),
        ("owners/second/mine.tgz", false),
        ("owners/first/../second/mine.tgz", false),
        ("owners/first%2F..%2Fsecond/mine.tgz", false),
        ("owners/firsts/mine.tgz", false),
        ("owners/first/mine.tgz", true),
    ] {
        let body = in_file(path, &json!([]));
        let (status, _) = first.send("PUT", "/v1/bundles/mine", &body).await?;
        let is_expected = match taken {
            true => status == 200,
            false => matches!(status, 400 | 403 | 422),
        };
        findings.check(
            format!("a bundle of an owner at {path}: {status}"),
            is_expected,
        );
    }
    Ok(())
}
