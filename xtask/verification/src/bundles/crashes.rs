//! Crashes: a control plane is killed repeatedly, during changes and builds.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::archive;
use super::control_plane::{Administrator, ControlPlane, WorkDir};
use super::value_at;
use crate::report;
use crate::servers::HANG_LIMIT;

/// Number of bundles, each with a document that changes.
const BUNDLES: u64 = 8;

/// Kills the control plane `kills` times, after varying times. Checks that no acknowledged write is
/// lost, and that no bundle in the storage is truncated.
///
/// # Errors
/// When a write is lost, or a bundle is truncated.
pub(super) async fn run(folder: &Path, kills: u64) -> Result<(), Box<dyn Error>> {
    let home = WorkDir::new(&folder.join("crashes"), None)?;
    let built = home.folder.join("built");
    let mut acknowledged = BTreeMap::new();
    let mut written = 0;
    for kill in 0..=kills {
        let mut plane = home.start("plane").await?;
        if kill == 0 {
            for bundle in 0..BUNDLES {
                let name = name(bundle);
                plane.administrator.put_pushed(&name, &built).await?;
            }
        }
        check_acknowledged(&plane.administrator, &mut acknowledged).await?;
        check_complete(&built)?;
        if kill == kills {
            check_built(&plane.administrator, &built, &acknowledged).await?;
            break;
        }
        // The process lives between a few milliseconds and a time in which it builds bundles.
        let life = Duration::from_millis(3 + kill * 7 % 240);
        written += change(&mut plane, &mut acknowledged, life).await?;
        check_complete(&built)?;
    }
    report(
        "survived",
        &format!("{kills} kills between {written} acknowledged writes, none lost, no half bundle"),
    );
    Ok(())
}

/// Values of a document, as its client knows them.
#[derive(Debug, Clone, Copy, Default)]
struct DocumentState {
    /// Last value that the control plane has acknowledged.
    acknowledged: u64,
    /// Last value that was sent; its write may have succeeded.
    sent: u64,
}

fn name(bundle: u64) -> String {
    format!("stock-{bundle}")
}

/// Writes documents, with one client for each, until the control plane is killed; returns the
/// number of acknowledged writes.
async fn change(
    plane: &mut ControlPlane,
    known: &mut BTreeMap<u64, DocumentState>,
    life: Duration,
) -> Result<u64, Box<dyn Error>> {
    let mut clients = JoinSet::new();
    for bundle in 0..BUNDLES {
        let known = known.get(&bundle).copied().unwrap_or_default();
        let plane = plane.administrator.clone();
        clients.spawn(async move { (bundle, write(&plane, bundle, known).await) });
    }
    tokio::time::sleep(life).await;
    plane.kill();
    let mut written = 0;
    while let Some(client) = clients.join_next().await {
        let (bundle, outcome) = client?;
        let now = outcome?;
        let before = known.insert(bundle, now).unwrap_or_default();
        written += now.acknowledged - before.acknowledged;
    }
    Ok(written)
}

/// Writes the document of a bundle until the control plane stops responding.
async fn write(
    plane: &Administrator,
    bundle: u64,
    mut known: DocumentState,
) -> Result<DocumentState, String> {
    let path = format!("/v1/sources/{}/data/count", name(bundle));
    loop {
        known.sent += 1;
        match plane
            .send(Method::PUT, &path, Some(&json!(known.sent)))
            .await
        {
            Ok((StatusCode::OK, _)) => known.acknowledged = known.sent,
            Ok((status, response)) => return Err(format!("PUT {path}: {status} {response}")),
            Err(_) => return Ok(known),
        }
    }
}

/// Checks that every document has its last acknowledged value, or a later one that was sent.
async fn check_acknowledged(
    plane: &Administrator,
    known: &mut BTreeMap<u64, DocumentState>,
) -> Result<(), Box<dyn Error>> {
    for (bundle, known) in known {
        let path = format!("/v1/sources/{}/data/count", name(*bundle));
        let (_, body) = plane.send(Method::GET, &path, None).await?;
        let stored = value_at(&body, "/result").as_u64().unwrap_or_default();
        if stored < known.acknowledged || stored > known.sent {
            return Err(format!("{path} holds {body}, acknowledged was {known:?}").into());
        }
        *known = DocumentState {
            acknowledged: stored,
            sent: stored,
        };
    }
    Ok(())
}

/// Checks that all bundles in the storage can be read completely.
fn check_complete(built: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(built)? {
        let path = entry?.path();
        // Incomplete files have other names.
        if path.to_string_lossy().ends_with(".tar.gz") {
            let bundle_data = archive::data(&fs::read(&path)?);
            bundle_data.map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Waits until every bundle in the storage contains the acknowledged value of its document. If two
/// builds of a bundle were killed, its definition may have to be written again.
async fn check_built(
    plane: &Administrator,
    built: &Path,
    known: &BTreeMap<u64, DocumentState>,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    for (bundle, known) in known {
        let path = built.join(format!("{}.tar.gz", name(*bundle)));
        let expected = json!({"count": known.acknowledged});
        let mut defined = false;
        loop {
            let stored = fs::read(&path).ok();
            let stored: Option<Value> = stored.map(|stored| archive::data(&stored)).transpose()?;
            if stored.as_ref() == Some(&expected) {
                break;
            }
            let latest = plane.latest(&name(*bundle)).await?;
            if !defined && latest.to_string().contains("the process ended") {
                plane.put_pushed(&name(*bundle), built).await?;
                defined = true;
            }
            if start.elapsed() > HANG_LIMIT {
                return Err(format!("{} holds {stored:?}, not {expected}", path.display()).into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}
