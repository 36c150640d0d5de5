//! Object storage with switchable failure modes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use crate::bundles::archive;
use crate::servers::{Failure, Message, Peer, PeerScript};

/// Failure of the fake object storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureMode {
    Good,
    /// Acknowledges every write and stores nothing.
    Lies,
    Fails,
    Hangs,
    HangsUp,
}

/// Storage that speaks the protocols of S3, Google Cloud Storage and Azure, as far as uploads and
/// checks of bundles need them; ignores signatures. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Storage(Arc<Mutex<Contents>>);

#[derive(Debug)]
struct Contents {
    mood: FailureMode,
    objects: BTreeMap<String, Object>,
    /// Number of versions of objects so far.
    versions: u64,
}

/// Stored object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    /// Generation of the object; in quotes it is the ETag.
    pub(super) version: u64,
    pub(super) bytes: Vec<u8>,
}

impl Object {
    /// Returns the response to a request that reads the object.
    pub(super) fn into_response(self) -> PeerScript {
        let modified = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
        PeerScript::Answer(200, tags(self.version) + modified, self.bytes)
    }
}

/// Returns the response headers that state a version.
pub(super) fn tags(version: u64) -> String {
    format!("ETag: \"{version}\"\r\nx-goog-generation: {version}\r\n")
}

/// Returns the method and the path of a request.
pub(super) fn target(request: &Message) -> (&str, &str) {
    let mut words = request.first.split(' ');
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default();
    (method, path.split('?').next().unwrap_or_default())
}

impl Storage {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Contents {
            mood: FailureMode::Good,
            objects: BTreeMap::new(),
            versions: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, mood: FailureMode) {
        self.lock().mood = mood;
    }

    /// Returns the object at a path, if there is one.
    pub(super) fn object(&self, path: &str) -> Option<Object> {
        self.lock().objects.get(path).cloned()
    }

    /// Returns the data of the bundle at a path, if there is one.
    pub(super) fn data(&self, path: &str) -> Option<serde_json::Value> {
        archive::data(&self.object(path)?.bytes).ok()
    }

    pub(super) fn remove(&self, path: &str) {
        self.lock().objects.remove(path);
    }

    /// Replaces an object with other bytes of the same length.
    pub(super) fn corrupt(&self, path: &str) {
        self.forge(path);
        let mut contents = self.lock();
        contents.versions += 1;
        let version = contents.versions;
        if let Some(object) = contents.objects.get_mut(path) {
            object.version = version;
        }
    }

    /// Replaces an object with other bytes of the same length, without a new version.
    pub(super) fn forge(&self, path: &str) {
        if let Some(object) = self.lock().objects.get_mut(path) {
            object.bytes.fill(b'X');
        }
    }

    /// Responds to a request.
    pub(super) fn answer(&self, request: &Message) -> PeerScript {
        let mut contents = self.lock();
        match contents.mood {
            FailureMode::Fails => return PeerScript::status(500),
            FailureMode::Hangs => return PeerScript::Hang,
            FailureMode::HangsUp => return PeerScript::Close,
            FailureMode::Good | FailureMode::Lies => {}
        }
        let (method, path) = target(request);
        match (method, contents.objects.get(path).cloned()) {
            ("PUT", known) => {
                if !allows(request, known.as_ref()) {
                    return PeerScript::status(412);
                }
                contents.versions += 1;
                let (version, bytes) = (contents.versions, request.body.clone());
                if contents.mood == FailureMode::Good {
                    let object = Object { version, bytes };
                    contents.objects.insert(path.to_owned(), object);
                }
                PeerScript::Answer(200, tags(version), Vec::new())
            }
            ("GET" | "HEAD", Some(known)) => known.into_response(),
            ("GET" | "HEAD", None) => PeerScript::status(404),
            _ => PeerScript::status(405),
        }
    }

    /// Starts the storage on a free port.
    ///
    /// # Errors
    /// When no port is free.
    pub(super) async fn listen(&self) -> Result<Peer, Failure> {
        let storage = self.clone();
        let peer = Peer::start(0, move |request| {
            let response = storage.answer(&request);
            let storage = storage.clone();
            async move {
                if !matches!(response, PeerScript::Hang) {
                    return response;
                }
                // Closes waiting connections when the mode changes.
                while storage.lock().mood == FailureMode::Hangs {
                    sleep(Duration::from_millis(100)).await;
                }
                PeerScript::Close
            }
        });
        Ok(peer.await?)
    }
}

/// Whether the conditions in the headers of a write are met.
fn allows(request: &Message, known: Option<&Object>) -> bool {
    let version = known.map(|known| known.version);
    let tag = version.map(|version| format!("\"{version}\""));
    let matches = request.header("if-match");
    let generation = request.header("x-goog-if-generation-match");
    matches.is_none_or(|expected| Some(expected) == tag.as_deref())
        && (request.header("if-none-match").is_none() || known.is_none())
        && generation.is_none_or(|expected| expected == version.unwrap_or(0).to_string())
}
