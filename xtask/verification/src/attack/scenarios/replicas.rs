//! A replica that is frozen during an upload, and resumed after another has written newer bytes.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::storage::Storage;
use crate::attack::tenancy;
use crate::postgres::Postgres;
use crate::servers::{Failure, HANG_LIMIT, Peer, PeerScript};

/// Number of digits of the random document, which makes an upload larger than socket buffers.
const DIGITS: usize = 40 << 20;

const OBJECT: &str = "/bucket/slow.tgz";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let postgres = Postgres::start().map_err(|error| error.to_string())?;
    let storage = Storage::new();
    let (write_count, mut seen) = watch::channel(0_u32);
    let (open, opened) = watch::channel(false);
    let write_count = Arc::new(write_count);
    let answering = storage.clone();
    // Count in the object after each successful write.
    let (noting, counts) = watch::channel(Vec::new());
    // The first upload is blocked before its body; later ones are not.
    let peer = Peer::start_gated(
        0,
        move |request| {
            let mut first = false;
            if request.first.starts_with("PUT ") {
                write_count.send_modify(|number| {
                    *number += 1;
                    first = *number == 1;
                });
            }
            let mut opened = opened.clone();
            async move {
                if first {
                    let _open = opened.wait_for(|open| *open).await;
                }
            }
        },
        move |request| {
            let response = answering.answer(&request);
            if request.first.starts_with("PUT ") && matches!(response, PeerScript::Answer(200, ..))
            {
                noting.send_modify(|counts| counts.push(count(&answering)));
            }
            async move { response }
        },
    )
    .await?;
    let url = postgres.url();
    let arguments = ["--database", &url, "--allow-host", "127.0.0.1"];
    let frozen = tenancy::plane(harness, &arguments).await?;
    let admin = frozen.person("admin");
    let sources = harness.inner("sources/slow")?;
    // In a subfolder, so that the source has no other root.
    let folder = harness.inner("sources/slow/blob")?;
    fs::write(format!("{folder}/data.json"), document())?;
    admin
        .put("/v1/sources/slow", json!({"directory": sources}))
        .await?;
    admin.put("/v1/sources/count", json!({})).await?;
    admin.put("/v1/sources/count/data/count", json!(1)).await?;
    let address = format!("http://{}", peer.address);
    let storage_of =
        json!({"aws": {"bucket": "bucket", "key": "slow.tgz", "region": "r", "url": address}});
    let bundle = json!({
        "object_storage": storage_of,
        "requirements": [{"source": "slow"}, {"source": "count"}],
    });
    admin.put("/v1/bundles/slow", bundle).await?;
    let write_started = timeout(HANG_LIMIT, seen.wait_for(|number| *number >= 1)).await;
    if write_started
        .map_err(drop)
        .and_then(|seen| seen.map(drop).map_err(drop))
        .is_err()
    {
        let status = admin.send("GET", "/v1/bundles/slow/status/latest", &Value::Null);
        return Err(format!("nothing is uploaded: {:?}", status.await?).into());
    }
    sleep(Duration::from_millis(500)).await;
    frozen.process.signal(Signal::STOP)?;
    let mut other = tenancy::plane(harness, &arguments).await?;
    let count = json!(2);
    other
        .person("admin")
        .put("/v1/sources/count/data/count", count)
        .await?;
    let newer = until(&storage).await;
    findings.succeed("another replica takes over", newer);
    frozen.process.signal(Signal::CONT)?;
    open.send_replace(true);
    // Waits until the resumed replica has finished its upload.
    sleep(Duration::from_secs(3)).await;
    let right = until(&storage).await;
    findings.succeed("the newer bytes stay, or come back", right);
    // The storage honours conditions, so no older object may have replaced a newer one.
    let written = counts.borrow().clone();
    let newer = written.iter().skip_while(|count| **count != Some(json!(2)));
    let older = newer.filter(|count| **count != Some(json!(2))).count();
    findings.check(
        format!("older bytes came over newer ones: {written:?}"),
        older == 0,
    );
    let status = other
        .person("admin")
        .send("GET", "/v1/bundles/slow/status/latest", &Value::Null);
    let (status, response) = status.await?;
    findings.check(
        format!("status: {status} {response}"),
        response.to_string().contains("SUCCESS"),
    );
    findings.check_memory(&other.process, 1024)?;
    findings.end(&mut other.process).await?;
    Ok(findings)
}

/// Returns the count in the stored object.
fn count(storage: &Storage) -> Option<Value> {
    storage.data(OBJECT)?.get("count").cloned()
}

/// Waits until the storage contains the second state of the bundle.
async fn until(storage: &Storage) -> Result<(), String> {
    let start = Instant::now();
    loop {
        let count = count(storage);
        if count == Some(json!(2)) {
            return Ok(());
        }
        if start.elapsed() > HANG_LIMIT {
            return Err(format!("the object's count is {count:?}"));
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// Returns a document that does not compress well.
fn document() -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut text = String::with_capacity(DIGITS + 32);
    text += "{\"blob\": \"";
    while text.len() < DIGITS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text += &format!("{state:016x}");
    }
    text + "\"}"
}
