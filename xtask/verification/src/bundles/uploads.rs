//! Uploads of bundles to each kind of object storage.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::archive;
use super::control_plane::{Administrator, WorkDir};
use super::storage::{DAMAGED, Kind, Storage};
use crate::report;
use crate::servers::HANG_LIMIT;

/// Number of changes of each bundle.
const CHANGES: u32 = 5;

/// Builds a bundle to each kind of storage. Checks that it is written again after each change of
/// its data, and after its object was damaged.
///
/// # Errors
/// When a server does not start, or a change is missing in the storage.
pub(super) async fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    for kind in Kind::ALL {
        let storage = Storage::start(kind, folder)?;
        let home = WorkDir::new(&folder.join(format!("{}-plane", kind.name())), None)?;
        let running = home.start("plane").await?;
        let plane = &running.administrator;
        let object = "shops/stock.tar.gz";
        let bundle = json!({
            "object_storage": storage.destination(object, "writer"),
            "requirements": [{"source": "stock"}],
        });
        plane
            .put("/v1/secrets/writer", &json!({"value": storage.secret()}))
            .await?;
        plane.put("/v1/sources/stock", &json!({})).await?;
        plane.put("/v1/bundles/stock", &bundle).await?;
        for count in 1..=CHANGES {
            plane
                .put("/v1/sources/stock/data/count", &json!(count))
                .await?;
            wait_for_data(&storage, plane, object, count).await?;
        }
        storage.damage(object).await?;
        wait_for_data(&storage, plane, object, CHANGES).await?;
        report(
            "uploaded",
            &format!(
                "{CHANGES} changes to {}, and what was damaged there",
                kind.name()
            ),
        );
    }
    Ok(())
}

/// Waits until the bundle in the storage contains a count.
async fn wait_for_data(
    storage: &Storage,
    plane: &Administrator,
    object: &str,
    count: u32,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    loop {
        let stored = storage.object(object).await?;
        let stored = stored.filter(|stored| stored != DAMAGED.as_bytes());
        let stored = stored.map(|bundle| archive::data(&bundle)).transpose()?;
        if stored == Some(json!({"count": count})) {
            return Ok(());
        }
        if start.elapsed() > HANG_LIMIT {
            let (name, latest) = (storage.kind.name(), plane.latest("stock").await?);
            return Err(format!("{name}: {stored:?} instead of {count}: {latest}").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
