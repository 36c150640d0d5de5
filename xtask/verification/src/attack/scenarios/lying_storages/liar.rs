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
        let peer = Peer::start(port, move |asked| {
            let said = liar.answer(asked);
            async move { said }
        });
        Ok(peer.await?)
    }

    fn answer(&self, mut asked: Message) -> PeerScript {
        let (method, path) = target(&asked);
        let (method, path) = (method.to_owned(), path.to_owned());
        let known = self.lies().get(last(&path)).cloned();
        let Some((lie, before)) = known else {
            return self.storage.answer(&asked);
        };
        let is_write = method == "PUT";
        match lie {
            Lie::KeepsNothing if is_write => PeerScript::Answer(200, tags(self.next()), Vec::new()),
            Lie::KeepsHalf if is_write => {
                asked.body.truncate(asked.body.len() / 2);
                self.storage.answer(&asked)
            }
            Lie::KeepsOther if is_write => {
                asked.body = before.map(|before| before.bytes).unwrap_or_default();
                self.storage.answer(&asked)
            }
            Lie::Forges if is_write => {
                let said = self.storage.answer(&asked);
                self.storage.forge(&path);
                said
            }
            Lie::Stale if !is_write => before.map_or(PeerScript::status(404), Object::shown),
            Lie::Forgets if !is_write => PeerScript::status(404),
            Lie::WrongTag if is_write => with(self.storage.answer(&asked), &tags(self.next())),
            Lie::ChangingTags => with(self.storage.answer(&asked), &tags(self.next())),
            Lie::Tags(tag) => {
                let tags =
                    tag.map(|tag| format!("ETag: \"{tag}\"\r\nx-goog-generation: {tag}\r\n"));
                with(self.storage.answer(&asked), &tags.unwrap_or_default())
            }
            Lie::Refuses(all, status, body) if is_write && (all || is_conditional(&asked)) => {
                PeerScript::Answer(status, String::new(), body)
            }
            Lie::Leads(status) => {
                let location = format!("Location: {}{path}\r\n", self.elsewhere);
                PeerScript::Answer(status, location, Vec::new())
            }
            Lie::Headers(headers) => match self.storage.answer(&asked) {
                PeerScript::Answer(status, known, body) => {
                    PeerScript::Answer(status, known + &headers, body)
                }
                said => said,
            },
            // Accepts the write, so that the object is read.
            Lie::Sends("GET", ..) if is_write => {
                with(self.storage.answer(&asked), &tags(self.next()))
            }
            Lie::Sends(on, start, piece, pause) if on == method => {
                PeerScript::Stream(start, piece, pause)
            }
            Lie::BreaksOff if is_write => with(self.storage.answer(&asked), &tags(self.next())),
            Lie::BreaksOff if method == "GET" => self.breaks_off(&path, &asked),
            Lie::Echoes if is_write => {
                let body = format!("{:?}", asked.headers).into_bytes();
                PeerScript::Answer(403, String::new(), body)
            }
            _ => self.storage.answer(&asked),
        }
    }

    /// Returns a version that no object has.
    fn next(&self) -> u64 {
        1_000_000 + self.answers.fetch_add(1, Ordering::Relaxed)
    }

    /// Responds with a truncated object, or to a range request with a range that overflows.
    fn breaks_off(&self, path: &str, asked: &Message) -> PeerScript {
        let Some(object) = self.storage.object(path) else {
            return PeerScript::status(404);
        };
        let length = object.bytes.len();
        let tags = tags(object.version) + "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
        match asked.header("range") {
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

fn is_conditional(asked: &Message) -> bool {
    ["if-match", "if-none-match", "x-goog-if-generation-match"]
        .iter()
        .any(|name| asked.header(name).is_some())
}

/// Returns a response with other version headers.
fn with(said: PeerScript, tags: &str) -> PeerScript {
    let PeerScript::Answer(status, headers, body) = said else {
        return said;
    };
    let is_tag = |line: &str| line.starts_with("ETag") || line.starts_with("x-goog-generation");
    let kept = headers.split_inclusive("\r\n").filter(|line| !is_tag(line));
    PeerScript::Answer(status, kept.collect::<String>() + tags, body)
}
