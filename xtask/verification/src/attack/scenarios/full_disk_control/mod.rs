//! Full disk of a control plane: bundles, repositories, database, encryption key and log.

mod own;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::repository::Repository;
use crate::attack::small_disk::SmallDisk;
use crate::attack::tenancy::{self, ControlPlane, built, eventually, in_file};
use crate::servers::{Failure, exchange, request};

/// Size of incompressible data that does not fit on the filled disk, in bytes.
const LARGE: usize = 300 << 10;

/// Free space on a filled disk; half of such data would fit.
const ROOM: u64 = 128 << 10;

/// Observation time while a disk is full; several build intervals long.
const WATCHED: Duration = Duration::from_secs(3);

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let inner = |name: &str| Harness::new(&harness.program, harness.long, &harness.folder, name);
    bundles(&inner("bundles")?, &mut findings).await?;
    repositories(&inner("repositories")?, &mut findings).await?;
    own::database(&inner("database")?, &mut findings).await?;
    own::key(&inner("key")?, &mut findings).await?;
    for role in ["control", "engine"] {
        own::log(&inner(&format!("log-{role}"))?, &mut findings, role).await?;
    }
    Ok(findings)
}

/// Returns a pseudo-random string of this length.
fn random(seed: u64, length: usize) -> String {
    let mut state = seed + 1;
    let letters = (0..length).map(|_| {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'A' + u8::try_from(state % 58).unwrap_or_default())
    });
    letters
        .filter(|letter| letter.is_ascii_alphabetic())
        .collect()
}

/// Returns the count in the data of a built bundle.
fn count(harness: &Harness, file: &str) -> Option<Value> {
    built(harness, file)?.pointer("/stock/count").cloned()
}

fn stock(count: u64, length: usize) -> Value {
    json!({"count": count, "text": random(count, length)})
}

async fn healthy(findings: &mut Findings, what: &str, plane: &ControlPlane) -> Result<(), Failure> {
    let answer = exchange(
        plane.process.address,
        ATTACKER,
        &request("GET", "/health", ""),
    )
    .await?;
    findings.check(
        format!("{what}: health is {}", answer.status()),
        answer.status() == 200,
    );
    Ok(())
}

/// Checks that the previous bundle stays intact while the next one does not fit, and that other
/// bundles are built.
async fn bundles(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let disk = SmallDisk::mount(&harness.inner("built")?)?;
    let other_folder = harness.inner("beside")?;
    let mut plane = tenancy::plane(harness, &["--bundle-root", &other_folder]).await?;
    let admin = plane.person("admin");
    admin.bundle("stock", "stock.tgz", stock(1, 100)).await?;
    let first = eventually("the bundle", || {
        count(harness, "stock.tgz") == Some(json!(1))
    });
    findings.succeed("bundles", first.await);
    let original = fs::read(disk.path().join("stock.tgz"))?;
    disk.fill(ROOM)?;
    admin
        .put("/v1/sources/stock/data/stock", stock(2, LARGE))
        .await?;
    let full = |status: &str| status.contains("PUSH_FAILED") && status.contains("space");
    findings.succeed(
        "bundles: status",
        admin.until_status("stock", full).await.map(drop),
    );
    let fresh = in_file("fresh.tgz", &json!([{"source": "stock"}]));
    admin.put("/v1/bundles/fresh", fresh).await?;
    findings.succeed(
        "bundles: a new one",
        admin.until_status("fresh", full).await.map(drop),
    );
    let other = PathBuf::from(&other_folder).join("other.tgz");
    admin
        .bundle("other", &other.display().to_string(), json!(1))
        .await?;
    let written = eventually("a bundle on another disk", || other.is_file());
    findings.succeed("bundles", written.await);
    healthy(findings, "bundles", &plane).await?;
    let retained = fs::read(disk.path().join("stock.tgz"))?;
    findings.check("bundles: the one before is not whole", retained == original);
    let half = disk.path().join("fresh.tgz").exists();
    findings.check("bundles: half of a new one is there", !half);
    disk.empty()?;
    let second = eventually("both bundles with room", || {
        ["stock.tgz", "fresh.tgz"]
            .iter()
            .all(|file| count(harness, file) == Some(json!(2)))
    });
    findings.succeed("bundles", second.await);
    let removed = eventually("no half bundle is left", || {
        !disk.path().join(".partial-bundles").exists()
    });
    findings.succeed("bundles", removed.await);
    findings.end(&mut plane.process).await
}

/// Checks that the previous bundle stays while a fetch of its repository does not fit, and that the
/// fetch leaves no data.
async fn repositories(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let disk = SmallDisk::mount(&harness.inner("data")?)?;
    let repository = Repository::new(&harness.inner("repository")?)?;
    let write = |count: u64, length| {
        repository.commit("stock/data.json", &stock(count, length).to_string())
    };
    write(1, 100)?;
    let peer = repository.listen().await?;
    let data = disk.path().display().to_string();
    let arguments = ["--data-dir", &data, "--allow-host", "127.0.0.1"];
    let mut plane = tenancy::plane(harness, &arguments).await?;
    let admin = plane.person("admin");
    let url = format!("http://{}/repository", peer.address);
    let git = json!({"git": {"repo": url, "reference": "refs/heads/main"}});
    admin.put("/v1/sources/stock", git).await?;
    let bundle = in_file("stock.tgz", &json!([{"source": "stock"}]));
    admin.put("/v1/bundles/stock", bundle).await?;
    let is = |expected: u64| move || count(harness, "stock.tgz") == Some(json!(expected));
    findings.succeed("repositories", eventually("the bundle", is(1)).await);
    let before = size(disk.path());
    disk.fill(ROOM)?;
    write(2, LARGE)?;
    let full = |status: &str| status.contains("SYNC_FAILED") && status.contains("git");
    findings.succeed(
        "repositories: status",
        admin.until_status("stock", full).await.map(drop),
    );
    sleep(WATCHED).await;
    healthy(findings, "repositories", &plane).await?;
    findings.check("repositories: the bundle before is gone", is(1)());
    let first = disk.path().join("filler");
    let left = size(disk.path()).saturating_sub(first.metadata()?.len() + before);
    findings.check(
        format!("repositories: {left} bytes are left"),
        left < ROOM / 2,
    );
    disk.empty()?;
    findings.succeed(
        "repositories",
        eventually("the bundle with room", is(2)).await,
    );
    findings.end(&mut plane.process).await
}

/// Total size of all files below a folder, in bytes.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
