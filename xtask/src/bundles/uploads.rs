//! Bundles in every kind of object storage.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::archive;
use super::plane::Home;
use super::storage::{Kind, Storage};
use crate::report;

/// A change must be in storage within this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often each bundle changes.
const CHANGES: u32 = 5;

/// Builds a bundle into each kind of storage, and again after each change of its data.
///
/// # Errors
/// When a server does not start, or a change does not reach its storage.
pub(super) async fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    for kind in Kind::ALL {
        let storage = Storage::start(kind, folder)?;
        let home = Home::new(&folder.join(format!("{}-plane", kind.name())), None)?;
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
            let begun = Instant::now();
            loop {
                let held = storage.object(object).await?;
                let held = held.map(|bundle| archive::data(&bundle)).transpose()?;
                if held == Some(json!({"count": count})) {
                    break;
                }
                if begun.elapsed() > PATIENCE {
                    let latest = plane.latest("stock").await?;
                    let name = kind.name();
                    return Err(format!("{name}: {held:?} instead of {count}: {latest}").into());
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        report("uploaded", &format!("{CHANGES} changes to {}", kind.name()));
    }
    Ok(())
}
