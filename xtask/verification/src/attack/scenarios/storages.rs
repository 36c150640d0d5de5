//! Object storages that lose, change and refuse objects, or hang.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::attack::storage::{FailureMode, Storage};
use crate::attack::tenancy::{self, ControlPlane, built, eventually};
use crate::servers::Failure;

const OBJECT: &str = "/bucket/stock.tgz";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let storage = Storage::new();
    let peer = storage.listen().await?;
    let mut plane = tenancy::plane(harness, &["--allow-host", "127.0.0.1"]).await?;
    let bystander = HealthMonitor::start(plane.process.address, health_monitor::control()).await;
    folder(harness, &mut findings, &plane).await?;
    let url = format!("http://{}", peer.address);
    moods(&mut findings, &plane, &storage, &url).await?;
    findings.watch_in_company(bystander.stop().await?);
    plane.process.kill();
    while_away(harness, &mut findings, &storage)?;
    let mut plane = tenancy::plane(harness, &["--allow-host", "127.0.0.1"]).await?;
    let there = eventually("what was changed while the server was away", || {
        built(harness, "kept.tgz") == Some(json!({"kept": 1}))
            && storage.data(OBJECT) == Some(json!({"stock": 4}))
    });
    findings.succeed("after a restart", there.await);
    findings.check_memory(&plane.process, 256)?;
    storage.set(FailureMode::Hangs);
    plane
        .person("admin")
        .put("/v1/sources/stock/data/stock", json!(5))
        .await?;
    sleep(Duration::from_millis(500)).await;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Checks that a bundle file that is removed, overwritten or truncated is restored.
async fn folder(
    harness: &Harness,
    findings: &mut Findings,
    plane: &ControlPlane,
) -> Result<(), Failure> {
    let admin = plane.person("admin");
    admin.bundle("kept", "kept.tgz", json!(1)).await?;
    let file = harness.folder.join("built/kept.tgz");
    let is_intact = || built(harness, "kept.tgz") == Some(json!({"kept": 1}));
    findings.succeed("built", eventually("the bundle", is_intact).await);
    let length = fs::read(&file)?.len();
    for (what, bytes) in [
        ("removed", None),
        ("overwritten", Some(vec![b'X'; length])),
        ("cut off", Some(vec![b'X'; length / 2])),
        ("emptied", Some(Vec::new())),
    ] {
        // The file does not exist if the previous round failed.
        let _removed = fs::remove_file(&file);
        if let Some(bytes) = bytes {
            fs::write(&file, bytes)?;
        }
        findings.succeed(what, eventually("the bundle again", is_intact).await);
    }
    Ok(())
}

/// Checks that a storage that recovers receives the bundles that it missed.
async fn moods(
    findings: &mut Findings,
    plane: &ControlPlane,
    storage: &Storage,
    url: &str,
) -> Result<(), Failure> {
    let admin = plane.person("admin");
    admin.put("/v1/sources/stock", json!({})).await?;
    admin.put("/v1/sources/stock/data/stock", json!(0)).await?;
    let body = json!({
        "object_storage": {"aws": {"bucket": "bucket", "key": "stock.tgz", "region": "r", "url": url}},
        "requirements": [{"source": "stock"}],
    });
    admin.put("/v1/bundles/stock", body).await?;
    let holds = |count: u64| move || storage.data(OBJECT) == Some(json!({"stock": count}));
    findings.succeed("first", eventually("the object", holds(0)).await);
    for (count, mood) in [
        (1, FailureMode::Lies),
        (2, FailureMode::Fails),
        (3, FailureMode::HangsUp),
        (4, FailureMode::Hangs),
    ] {
        storage.set(mood);
        admin
            .put("/v1/sources/stock/data/stock", json!(count))
            .await?;
        // A hanging build has no status yet.
        match mood {
            FailureMode::Hangs => sleep(Duration::from_millis(1_500)).await,
            _ => {
                let failed = admin.until_status("stock", |status| !status.contains("SUCCESS"));
                findings.succeed(&format!("{mood:?}: status"), failed.await.map(drop));
            }
        }
        // Other bundles are built meanwhile.
        let other = format!("other-{count}");
        admin
            .bundle(&other, &format!("{other}.tgz"), json!(1))
            .await?;
        storage.set(FailureMode::Good);
        let result = eventually("the object", holds(count)).await;
        findings.succeed(&format!("{mood:?}"), result);
    }
    storage.remove(OBJECT);
    findings.succeed("lost", eventually("the object again", holds(4)).await);
    storage.corrupt(OBJECT);
    findings.succeed("spoilt", eventually("the object again", holds(4)).await);
    Ok(())
}

/// Changes objects while no server runs; the next start must detect it.
fn while_away(
    harness: &Harness,
    findings: &mut Findings,
    storage: &Storage,
) -> Result<(), Failure> {
    let file = harness.folder.join("built/kept.tgz");
    let length = fs::read(&file)?.len();
    fs::write(&file, vec![b'X'; length])?;
    storage.corrupt(OBJECT);
    findings.check("the bundles are spoilt", storage.data(OBJECT).is_none());
    Ok(())
}
