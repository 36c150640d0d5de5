//! A storage that lies about some of its objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lies::Lie;
use crate::attack::storage::{Object, Storage, tags, target};
use crate::servers::{Failure, Message, Peer, PeerScript};

/// Lying storage that speaks the protocols of three providers. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Liar {
    pub(super) storage: Storage,
    lies: Arc<Mutex<Lies>>,
    answers: Arc<AtomicU64>,
    /// Address to which the storage redirects.
    elsewhere: String,
}

/// Lies by the last segment of the path, each with the object as it was before the lie.
type Lies = BTreeMap<String, (Lie, Option<Object>)>;

impl Liar {
    pub(super) fn new(elsewhere: String) -> Self {
        Self {
            storage: Storage::new(),
            lies: Arc::default(),
            answers: Arc::default(),
            elsewhere,
        }
    }

    fn lies(&self) -> MutexGuard<'_, Lies> {
        self.lies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to lie about the object at a path.
    pub(super) fn lie(&self, path: &str, lie: Lie) {
        let before = self.storage.object(path);
        self.lies().insert(last(path).to_owned(), (lie, before));
    }

    /// Stops lying about all objects.
    pub(super) fn repent(&self) {
        self.lies().clear();
    }

    /// Starts the storage on a free port (0), or on the port of a dropped peer. Dropping a peer
    /// closes its connections.
    ///
    /// # Errors
    /// When the port is in use.
    pub(super) async fn listen(&self, port: u16) -> Result<Peer, Failure> {
        let liar = self.clone();
        let peer = Peer::start(port, move |request| {
            let response = liar.answer(request);
            async move { response }
        });
        Ok(peer.await?)
    }

    fn answer(&self, mut request: Message) -> PeerScript {
        let (method, path) = target(&request);
        let (method, path) = (method.to_owned(), path.to_owned());
        let known = self.lies().get(last(&path)).cloned();
        let Some((lie, before)) = known else {
            return self.storage.answer(&request);
        };
        let is_write = method == "PUT";
        match lie {
            Lie::KeepsNothing if is_write => PeerScript::Answer(200, tags(self.next()), Vec::new()),
            Lie::KeepsHalf if is_write => {
                request.body.truncate(request.body.len() / 2);
                self.storage.answer(&request)
            }
            Lie::KeepsOther if is_write => {
                request.body = before.map(|before| before.bytes).unwrap_or_default();
                self.storage.answer(&request)
            }
            Lie::Forges if is_write => {
                let response = self.storage.answer(&request);
                self.storage.forge(&path);
                response
            }
            Lie::Stale if !is_write => {
                before.map_or(PeerScript::status(404), Object::into_response)
            }
            Lie::Forgets if !is_write => PeerScript::status(404),
            Lie::WrongTag if is_write => with(self.storage.answer(&request), &tags(self.next())),
            Lie::ChangingTags => with(self.storage.answer(&request), &tags(self.next())),
            Lie::Tags(tag) => {
                let tags =
                    tag.map(|tag| format!("ETag: \"{tag}\"\r\nx-goog-generation: {tag}\r\n"));
                with(self.storage.answer(&request), &tags.unwrap_or_default())
            }
            Lie::Refuses(all, status, body) if is_write && (all || is_conditional(&request)) => {
                PeerScript::Answer(status, String::new(), body)
            }
            Lie::Leads(status) => {
                let location = format!("Location: {}{path}\r\n", self.elsewhere);
                PeerScript::Answer(status, location, Vec::new())
            }
            Lie::Headers(headers) => match self.storage.answer(&request) {
                PeerScript::Answer(status, known, body) => {
                    PeerScript::Answer(status, known + &headers, body)
                }
                response => response,
            },
            // Accepts the write, so that the object is read.
            Lie::Sends("GET", ..) if is_write => {
                with(self.storage.answer(&request), &tags(self.next()))
            }
            Lie::Sends(on, start, piece, pause) if on == method => {
                PeerScript::Stream(start, piece, pause)
            }
            Lie::BreaksOff if is_write => with(self.storage.answer(&request), &tags(self.next())),
            Lie::BreaksOff if method == "GET" => self.breaks_off(&path, &request),
            Lie::Echoes if is_write => {
                let body = format!("{:?}", request.headers).into_bytes();
                PeerScript::Answer(403, String::new(), body)
            }
            _ => self.storage.answer(&request),
        }
    }

    /// Returns a version that no object has.
    fn next(&self) -> u64 {
        1_000_000 + self.answers.fetch_add(1, Ordering::Relaxed)
    }

    /// Responds with a truncated object, or to a range request with a range that overflows.
    fn breaks_off(&self, path: &str, request: &Message) -> PeerScript {
        let Some(object) = self.storage.object(path) else {
            return PeerScript::status(404);
        };
        let length = object.bytes.len();
        let tags = tags(object.version) + "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
        match request.header("range") {
            None => {
                let head = format!("HTTP/1.1 200 OK\r\n{tags}Content-Length: {length}\r\n\r\n");
                let start = [head.as_bytes(), object.bytes.get(..1).unwrap_or_default()].concat();
                PeerScript::Cut(start)
            }
            Some(_) => {
                let range = format!("Content-Range: bytes 0-{}/{length}\r\n", u64::MAX);
                PeerScript::Answer(206, tags + &range, object.bytes)
            }
        }
    }
}

/// Returns the last segment of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn is_conditional(request: &Message) -> bool {
    ["if-match", "if-none-match", "x-goog-if-generation-match"]
        .iter()
        .any(|name| request.header(name).is_some())
}

/// Returns a response with other version headers.
fn with(response: PeerScript, tags: &str) -> PeerScript {
    let PeerScript::Answer(status, headers, body) = response else {
        return response;
    };
    let is_tag = |line: &str| line.starts_with("ETag") || line.starts_with("x-goog-generation");
    let other_headers = headers.split_inclusive("\r\n").filter(|line| !is_tag(line));
    PeerScript::Answer(status, other_headers.collect::<String>() + tags, body)
}
