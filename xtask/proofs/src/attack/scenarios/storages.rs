//! Storages that lose, change, refuse and never answer what they are given.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::bystander::{self, Bystander};
use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::tenancy::{self, Person, Plane, built, eventually};
use crate::bundles::archive;
use crate::servers::{Failure, HANG_LIMIT, Message, Peer, Said};

/// How a storage behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Good,
    /// Takes everything and keeps nothing.
    Lies,
    Fails,
    Hangs,
    HangsUp,
}

/// A storage of the S3 protocol that a task sets in a mood; signatures are not looked at.
#[derive(Debug, Clone)]
pub(super) struct Storage(Arc<Mutex<Held>>);

#[derive(Debug)]
struct Held {
    mood: Mood,
    /// Objects with their ETags.
    objects: BTreeMap<String, (String, Vec<u8>)>,
    writes: u64,
}

impl Storage {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Held {
            mood: Mood::Good,
            objects: BTreeMap::new(),
            writes: 0,
        })))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, mood: Mood) {
        self.held().mood = mood;
    }

    /// The data of the bundle at a path, if there is one.
    pub(super) fn data(&self, path: &str) -> Option<serde_json::Value> {
        let bytes = self.held().objects.get(path)?.1.clone();
        archive::data(&bytes).ok()
    }

    fn remove(&self, path: &str) {
        self.held().objects.remove(path);
    }

    /// Puts other bytes of the same length in an object's place.
    fn spoil(&self, path: &str) {
        if let Some((tag, bytes)) = self.held().objects.get_mut(path) {
            bytes.fill(b'X');
            *tag = "\"spoilt\"".to_owned();
        }
    }

    /// Answers a request.
    pub(super) fn answer(&self, asked: &Message) -> Said {
        let mut held = self.held();
        match held.mood {
            Mood::Fails => return Said::status(500),
            Mood::Hangs => return Said::Hang,
            Mood::HangsUp => return Said::Close,
            Mood::Good | Mood::Lies => {}
        }
        let mut words = asked.first.split(' ');
        let method = words.next().unwrap_or_default();
        let path = words.next().unwrap_or_default().split('?').next();
        let path = path.unwrap_or_default().to_owned();
        let known = held.objects.get(&path).cloned();
        let tag = known.as_ref().map(|(tag, _)| tag.as_str());
        match method {
            "PUT" => {
                let refused = asked.header("if-match").is_some_and(|due| Some(due) != tag)
                    || (asked.header("if-none-match").is_some() && tag.is_some());
                if refused {
                    return Said::status(412);
                }
                held.writes += 1;
                let tag = format!("\"{}\"", held.writes);
                if held.mood == Mood::Good {
                    held.objects.insert(path, (tag.clone(), asked.body.clone()));
                }
                Said::Answer(200, format!("ETag: {tag}\r\n"), Vec::new())
            }
            "GET" | "HEAD" => match known {
                Some((tag, bytes)) => {
                    let modified = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT";
                    Said::Answer(200, format!("ETag: {tag}\r\n{modified}\r\n"), bytes)
                }
                None => Said::status(404),
            },
            _ => Said::status(405),
        }
    }

    /// Has the storage listen.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) async fn listen(&self) -> Result<Peer, Failure> {
        let storage = self.clone();
        let peer = Peer::start(0, move |asked| {
            let said = storage.answer(&asked);
            let storage = storage.clone();
            async move {
                if !matches!(said, Said::Hang) {
                    return said;
                }
                // One that is started again forgets who waited.
                while storage.held().mood == Mood::Hangs {
                    sleep(Duration::from_millis(100)).await;
                }
                Said::Close
            }
        });
        Ok(peer.await?)
    }
}

const OBJECT: &str = "/bucket/stock.tgz";

pub(super) async fn play(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let storage = Storage::new();
    let peer = storage.listen().await?;
    let mut plane = tenancy::plane(harness, &["--allow-host", "127.0.0.1"]).await?;
    let bystander = Bystander::start(plane.process.address, bystander::control()).await;
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
    findings.weigh(&plane.process, 256)?;
    storage.set(Mood::Hangs);
    plane
        .person("admin")
        .put("/v1/sources/stock/data/stock", json!(5))
        .await?;
    sleep(Duration::from_millis(500)).await;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// A file that is removed, overwritten or replaced comes back.
async fn folder(harness: &Harness, findings: &mut Findings, plane: &Plane) -> Result<(), Failure> {
    let admin = plane.person("admin");
    admin.bundle("kept", "kept.tgz", json!(1)).await?;
    let file = harness.folder.join("built/kept.tgz");
    let whole = || built(harness, "kept.tgz") == Some(json!({"kept": 1}));
    findings.succeed("built", eventually("the bundle", whole).await);
    let length = fs::read(&file)?.len();
    for (what, bytes) in [
        ("removed", None),
        ("overwritten", Some(vec![b'X'; length])),
        ("cut off", Some(vec![b'X'; length / 2])),
        ("emptied", Some(Vec::new())),
    ] {
        // Where the one before has not come back, there is nothing to remove.
        let _removed = fs::remove_file(&file);
        if let Some(bytes) = bytes {
            fs::write(&file, bytes)?;
        }
        findings.succeed(what, eventually("the bundle again", whole).await);
    }
    Ok(())
}

/// A storage that takes a while to be good again gets what it missed.
async fn moods(
    findings: &mut Findings,
    plane: &Plane,
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
        (1, Mood::Lies),
        (2, Mood::Fails),
        (3, Mood::HangsUp),
        (4, Mood::Hangs),
    ] {
        storage.set(mood);
        admin
            .put("/v1/sources/stock/data/stock", json!(count))
            .await?;
        // A build that hangs has no status yet.
        match mood {
            Mood::Hangs => sleep(Duration::from_millis(1_500)).await,
            _ => findings.succeed(&format!("{mood:?}: status"), fails(admin).await),
        }
        // Other bundles are built meanwhile.
        let other = format!("other-{count}");
        admin
            .bundle(&other, &format!("{other}.tgz"), json!(1))
            .await?;
        storage.set(Mood::Good);
        let held = eventually("the object", holds(count)).await;
        findings.succeed(&format!("{mood:?}"), held);
    }
    storage.remove(OBJECT);
    findings.succeed("lost", eventually("the object again", holds(4)).await);
    storage.spoil(OBJECT);
    findings.succeed("spoilt", eventually("the object again", holds(4)).await);
    Ok(())
}

/// Waits until the status of the bundle says that the storage does not hold it.
async fn fails(admin: Person) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let asked = admin.send("GET", "/v1/bundles/stock/status/latest", &Value::Null);
        let (_, said) = asked.await.map_err(|why| why.to_string())?;
        let said = said.to_string();
        if !said.contains("SUCCESS") {
            return Ok(());
        }
        if begun.elapsed() > HANG_LIMIT {
            return Err(said);
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// What happens while no server runs is seen at the next start.
fn while_away(
    harness: &Harness,
    findings: &mut Findings,
    storage: &Storage,
) -> Result<(), Failure> {
    let file = harness.folder.join("built/kept.tgz");
    let length = fs::read(&file)?.len();
    fs::write(&file, vec![b'X'; length])?;
    storage.spoil(OBJECT);
    findings.hold("the bundles are spoilt", storage.data(OBJECT).is_none());
    Ok(())
}
