//! Replicas on one PostgreSQL database; one of them is killed during a build.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chrono::DateTime;
use serde_json::{Value, json};
use sqlx::{AnyPool, Row as _};

use super::archive;
use super::control_plane::{Administrator, ControlPlane, WorkDir};
use super::value_at;
use crate::postgres::Postgres;
use crate::report;
use crate::servers::HANG_LIMIT;

/// Number of bundles.
const BUNDLES: u64 = 24;

/// Number of changes of each bundle.
const ROUNDS: u64 = 12;

/// Index of the round in which a replica is killed.
const KILLED_IN: u64 = 4;

/// Changes bundles through three replicas, and kills one of these. Checks that every bundle
/// contains its last change, and that two builds of a bundle never overlap.
///
/// # Errors
/// When a change is missing, or two builds of a bundle overlap.
pub(super) async fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    let postgres = Postgres::start()?;
    let home = WorkDir::new(&folder.join("replicas"), Some(postgres.url()))?;
    let mut planes = Vec::new();
    for name in ["first", "second", "third"] {
        planes.push(home.start(name).await?);
    }
    sqlx::any::install_default_drivers();
    let database = AnyPool::connect(&postgres.url()).await?;
    let built = home.folder.join("built");
    for bundle in 0..BUNDLES {
        let plane = &replica_of(&planes, bundle)?.administrator;
        plane.put_pushed(&name(bundle), &built).await?;
    }
    for round in 1..=ROUNDS {
        for bundle in 0..BUNDLES {
            let plane = &replica_of(&planes, bundle + round)?.administrator;
            let path = format!("/v1/sources/{}/data/count", name(bundle));
            plane.put(&path, &json!(round)).await?;
        }
        if round == KILLED_IN
            && let Some(mut killed) = planes.pop()
        {
            kill_at_work(&mut killed, &planes, &database).await?;
        }
    }
    let start = Instant::now();
    for bundle in 0..BUNDLES {
        wait_for_data(
            &replica_of(&planes, bundle)?.administrator,
            &built,
            bundle,
            start,
        )
        .await?;
    }
    drop(planes);
    let builds = single(&home)?;
    report(
        "shared",
        &format!(
            "{builds} builds of {BUNDLES} bundles by three replicas, one killed: none lost, none doubled"
        ),
    );
    Ok(())
}

fn replica_of<T>(planes: &[T], number: u64) -> Result<&T, Box<dyn Error>> {
    let index = usize::try_from(number)? % planes.len().max(1);
    planes.get(index).ok_or_else(|| "no replica".into())
}

fn name(bundle: u64) -> String {
    format!("shared-{bundle}")
}

/// Kills a replica during a build, while changes are written through the others.
async fn kill_at_work(
    killed: &mut ControlPlane,
    others: &[ControlPlane],
    database: &AnyPool,
) -> Result<(), Box<dyn Error>> {
    let owner = format!("{}-%", killed.id());
    let start = Instant::now();
    for change in 0.. {
        let bundle = change % BUNDLES;
        let path = format!("/v1/sources/{}/data/other", name(bundle));
        replica_of(others, bundle)?
            .administrator
            .put(&path, &json!(change))
            .await?;
        // The replica is paused before the check, so that its build cannot end in the meantime.
        killed.signal("STOP")?;
        let builds = sqlx::query("SELECT COUNT(*) FROM builds WHERE owner LIKE $1 AND lease > 0");
        let builds = builds.bind(&owner).fetch_one(database).await?;
        let builds: i64 = builds.try_get(0)?;
        if builds > 0 {
            killed.kill();
            report("killed", &format!("a replica with {builds} builds at work"));
            return Ok(());
        }
        killed.signal("CONT")?;
        if start.elapsed() > HANG_LIMIT {
            break;
        }
    }
    Err("the replica never had a build at work".into())
}

/// Waits until a bundle in the storage contains its last change.
async fn wait_for_data(
    plane: &Administrator,
    built: &Path,
    bundle: u64,
    start: Instant,
) -> Result<(), Box<dyn Error>> {
    let path = built.join(format!("{}.tar.gz", name(bundle)));
    loop {
        let built_data = fs::read(&path).ok();
        let built_data: Option<Value> = built_data
            .map(|built_data| archive::data(&built_data))
            .transpose()?;
        if built_data
            .as_ref()
            .map(|built_data| value_at(built_data, "/count"))
            == Some(&json!(ROUNDS))
        {
            return Ok(());
        }
        if start.elapsed() > HANG_LIMIT {
            let latest = plane.latest(&name(bundle)).await?;
            return Err(format!("{} holds {built_data:?}: {latest}", name(bundle)).into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Checks in the logs of all replicas that no two builds of a bundle overlap; returns the number of
/// builds.
fn single(home: &WorkDir) -> Result<usize, Box<dyn Error>> {
    let mut builds: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for name in ["first", "second", "third"] {
        let log = fs::read_to_string(home.folder.join(format!("{name}.log")))?;
        for line in log.lines() {
            let entry: Value = serde_json::from_str(line).unwrap_or_default();
            if *value_at(&entry, "/msg") != "bundle built" {
                continue;
            }
            let bundle = value_at(&entry, "/bundle").as_str().unwrap_or_default();
            let start = value_at(&entry, "/began").as_str().unwrap_or_default();
            let start = DateTime::parse_from_rfc3339(start)?.timestamp_micros() as f64 / 1e3;
            let duration = value_at(&entry, "/duration_ms").as_f64();
            let duration =
                duration.ok_or_else(|| format!("a build without its duration: {line}"))?;
            let spans = builds.entry(bundle.to_owned()).or_default();
            spans.push((start, start + duration));
        }
    }
    for (bundle, spans) in &mut builds {
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut pairs = spans.iter().zip(spans.iter().skip(1));
        if let Some((one, other)) = pairs.find(|(one, other)| other.0 < one.1) {
            return Err(format!("{bundle} was built twice at a time: {one:?}, {other:?}").into());
        }
    }
    match builds.len() {
        0 => Err("no log tells of a build".into()),
        _ => Ok(builds.values().map(Vec::len).sum()),
    }
}
