//! Writers, and the storage of built bundles.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{BUNDLES, SLOW};
use crate::attack::storage::{Storage, target};
use crate::attack::tenancy::User;
use crate::servers::{Failure, Peer, PeerScript};

/// Counts in each stored object, in the order of the object's writes.
pub(super) type WrittenCounts = Arc<Mutex<BTreeMap<String, Vec<u64>>>>;

/// Numbers of requests and responses of a writer.
#[derive(Debug, Default)]
pub(super) struct WriterState {
    pub(super) acknowledged: u64,
    pub(super) sent: u64,
    pub(super) refused: u64,
    /// Latest response that is neither a success nor 503, or latest I/O error.
    pub(super) wrong: Option<String>,
}

pub(super) fn object(name: &str) -> String {
    format!("/bucket/{name}")
}

/// Returns the count in the stored object of a bundle.
pub(super) fn count(storage: &Storage, name: &str) -> Option<u64> {
    let data = storage.data(&object(name))?;
    data.as_object()?.values().next()?.get("count")?.as_u64()
}

/// Starts a storage that records its writes, and a slow source.
pub(super) async fn listen(storage: &Storage, written: &WrittenCounts) -> Result<Peer, Failure> {
    let (storage, written) = (storage.clone(), Arc::clone(written));
    let peer = Peer::start(0, move |request| {
        let (method, path) = target(&request);
        let (is_source, is_write) = (path == "/source", method == "PUT");
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let response = match is_source {
            true => PeerScript::Answer(200, String::new(), b"1".to_vec()),
            false => storage.answer(&request),
        };
        if is_write
            && matches!(response, PeerScript::Answer(200, ..))
            && let Some(count) = count(&storage, &name)
        {
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            written.entry(name).or_default().push(count);
        }
        async move {
            if is_source {
                sleep(SLOW).await;
            }
            response
        }
    });
    Ok(peer.await?)
}

/// Returns the definition of a bundle that is built to the storage.
pub(super) fn bundle(name: &str, source: &str, url: &str) -> Value {
    json!({
        "object_storage": {"aws": {"bucket": "bucket", "key": name, "region": "r", "url": url}},
        "requirements": [{"source": source}],
    })
}

pub(super) async fn define(person: User, owner: &str, url: &str) -> Result<(), Failure> {
    let source = format!("{owner}-source");
    person
        .put(&format!("/v1/sources/{source}"), json!({}))
        .await?;
    let path = format!("/v1/sources/{source}/data/{owner}/count");
    person.put(&path, json!(0)).await?;
    for at in 0..BUNDLES {
        let name = format!("{owner}-{at}");
        let body = bundle(&name, &source, url);
        person.put(&format!("/v1/bundles/{name}"), body).await?;
    }
    Ok(())
}

/// Writes consecutive numbers, each through the next replica, until stopped.
pub(super) async fn write(
    owner: &'static str,
    people: Vec<User>,
    over: Arc<AtomicBool>,
) -> (&'static str, WriterState) {
    let path = format!("/v1/sources/{owner}-source/data/{owner}/count");
    let mut known = WriterState::default();
    for person in people.iter().cycle() {
        if over.load(Ordering::SeqCst) {
            break;
        }
        known.sent += 1;
        match person.send("PUT", &path, &json!(known.sent)).await {
            Ok((200, _)) => known.acknowledged = known.sent,
            Ok((503, _)) => known.refused += 1,
            Ok((status, response)) => known.wrong = Some(format!("{status} {response}")),
            Err(error) => known.wrong = Some(error.to_string()),
        }
        sleep(Duration::from_millis(30)).await;
    }
    (owner, known)
}
