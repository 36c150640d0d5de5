//! Object storage server with the protocols of S3, Azure and Google, which can simulate failures.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use test_server::{Request, Response, TestServer, empty, header, respond};

/// Behaviour of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerMode {
    /// Responds correctly.
    Faithful,
    /// Ignores the preconditions of writes.
    Ignores,
    /// Responds to conditional writes with 501.
    Refuses,
    /// Responds to conditional writes with 412, whatever the condition.
    Distrusts,
    /// Responds to writes with 200, and stores nothing.
    Loses,
    /// Responds to writes with an ETag that is not that of the object.
    Lies,
    /// Refuses writes because there is no free space.
    Full,
    /// Refuses all requests except writes.
    Blind,
    /// Does not respond.
    Silent,
    /// Does not respond to writes, and does not store them until the behaviour changes.
    Stalls,
}

/// Storage server with its objects.
#[derive(Debug, Clone)]
pub(crate) struct Storage {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _server: Arc<TestServer>,
}

#[derive(Debug)]
struct State {
    manner: ServerMode,
    /// True while the requests that hang must continue to hang.
    is_blocked: bool,
    objects: BTreeMap<String, Object>,
    /// Number of changes so far, and number of requests that hang.
    generation: u64,
    waiting: usize,
    /// Every content of every object so far, in order.
    writes_log: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, Clone)]
struct Object {
    bytes: Vec<u8>,
    generation: u64,
}

impl Object {
    /// Returns the ETag. For Azure it depends on the number of the write, otherwise on the content.
    fn e_tag(&self, path: &str) -> String {
        match path.contains("azure") {
            true => format!("\"0x{:x}\"", self.generation),
            false => {
                let mut hasher = DefaultHasher::new();
                self.bytes.hash(&mut hasher);
                format!("\"{:x}\"", hasher.finish())
            }
        }
    }

    fn answer(&self, path: &str) -> Response {
        let headers = [
            ("etag", self.e_tag(path)),
            ("x-goog-generation", self.generation.to_string()),
            ("last-modified", "Sun, 01 Nov 2026 00:00:00 GMT".to_owned()),
        ];
        let headers = headers
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        respond(200, &headers, self.bytes.clone())
    }
}

impl Storage {
    pub(crate) async fn start() -> std::io::Result<Self> {
        let state = Arc::new(Mutex::new(State {
            manner: ServerMode::Faithful,
            is_blocked: false,
            objects: BTreeMap::new(),
            generation: 0,
            waiting: 0,
            writes_log: Vec::new(),
        }));
        let shared = Arc::clone(&state);
        let server = TestServer::start(move |request| answer(Arc::clone(&shared), request)).await?;
        Ok(Self {
            address: server.address(),
            state,
            _server: Arc::new(server),
        })
    }

    /// Returns the `object_storage` of a bundle with this name, for a kind of storage.
    pub(crate) fn place(&self, kind: &str, name: &str) -> String {
        let url = format!("http://{}", self.address);
        match kind {
            "azure" => format!(
                r#"{{"azure":{{"account_url":"{url}/acc","container":"azure","path":"{name}","credentials":"azure"}}}}"#
            ),
            "gcp" => format!(
                r#"{{"gcp":{{"project":"p","bucket":"gcp","object":"{name}","credentials":"gcp"}}}}"#
            ),
            _ => format!(
                r#"{{"aws":{{"bucket":"aws","key":"{name}","region":"r","url":"{url}","credentials":"aws"}}}}"#
            ),
        }
    }

    /// Returns requests that store a secret for each kind of storage.
    pub(crate) fn secrets(&self) -> String {
        let url = format!("http://{}", self.address);
        [
            r#"admin PUT /v1/secrets/aws {"value":{"type":"aws_auth","access_key_id":"k","secret_access_key":"s"}} => 200"#.to_owned(),
            r#"admin PUT /v1/secrets/azure {"value":{"type":"azure_auth","account_name":"acc","account_key":"aHVzaA=="}} => 200"#.to_owned(),
            format!(r#"admin PUT /v1/secrets/gcp {{"value":{{"type":"gcp_auth","credentials":{{"private_key":"h","private_key_id":"i","client_email":"e","gcs_base_url":"{url}","disable_oauth":true}}}}}} => 200"#),
        ]
        .join("\n")
    }

    /// Sets the behaviour for new requests and for requests that hang.
    pub(crate) fn behave(&self, manner: ServerMode) {
        let mut state = self.state();
        state.manner = manner;
        state.is_blocked = matches!(manner, ServerMode::Silent | ServerMode::Stalls);
    }

    /// Responds correctly to new requests; requests that hang continue to hang.
    pub(crate) fn pass_new(&self) {
        self.state().manner = ServerMode::Faithful;
    }

    /// Returns the stored object of a bundle.
    pub(crate) fn object(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let found = state.objects.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, object)| object.bytes.clone())
    }

    /// Changes or removes the stored object of a bundle without a request.
    pub(crate) fn damage(&self, name: &str, deleted: bool) {
        let mut state = self.state();
        state.generation += 1;
        let generation = state.generation;
        match deleted {
            true => state.objects.retain(|path, _| !path.ends_with(name)),
            false => {
                for (path, object) in &mut state.objects {
                    if path.ends_with(name) {
                        object.bytes.fill(b'X');
                        object.generation = generation;
                    }
                }
            }
        }
    }

    /// Returns every content of a bundle's object so far, in order.
    pub(crate) fn writes(&self, name: &str) -> Vec<Vec<u8>> {
        let state = self.state();
        let written = state
            .writes_log
            .iter()
            .filter(|(path, _)| path.ends_with(name));
        written.map(|(_, bytes)| bytes.clone()).collect()
    }

    /// Returns the number of requests that hang.
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(state: Arc<Mutex<State>>, request: Request) -> Response {
    let manner = locked(&state).manner;
    let stalls = match manner {
        ServerMode::Stalls => request.method() == "PUT",
        manner => manner == ServerMode::Silent,
    };
    if stalls {
        locked(&state).waiting += 1;
        while locked(&state).is_blocked {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // The write is stored even if the client no longer waits for the response.
        locked(&state).waiting -= 1;
    }
    locked(&state).answer(&request)
}

/// Returns the path of an object, without unnecessary escapes.
fn object_path(request: &Request) -> String {
    let path = request.uri().path();
    path.replace("%2E", ".").replace("%2D", "-")
}

impl State {
    fn answer(&mut self, request: &Request) -> Response {
        let path = object_path(request);
        let found = self.objects.get(&path).cloned();
        match (request.method().as_str(), found) {
            ("HEAD" | "GET", _) if self.manner == ServerMode::Blind => empty(403),
            ("HEAD" | "GET", None) => empty(404),
            ("HEAD" | "GET", Some(object)) => object.answer(&path),
            ("PUT", found) => self.put(request, path, found.as_ref()),
            _ => empty(405),
        }
    }

    fn put(&mut self, request: &Request, path: String, found: Option<&Object>) -> Response {
        let condition = |name| request.headers().get(name).map(|_| header(request, name));
        let expected = [
            condition("if-none-match").map(|_| found.is_none()),
            condition("if-match").map(|tag| found.is_some_and(|found| found.e_tag(&path) == tag)),
            condition("x-goog-if-generation-match")
                .map(|expected| found.map_or(0, |found| found.generation).to_string() == expected),
        ];
        let conditional = expected.iter().any(Option::is_some);
        let conditions_hold = !expected.contains(&Some(false));
        match self.manner {
            ServerMode::Full => return empty(507),
            ServerMode::Refuses if conditional => return empty(501),
            ServerMode::Distrusts if conditional => return empty(412),
            ServerMode::Ignores => {}
            _ if !conditions_hold => return empty(412),
            _ => {}
        }
        self.generation += 1;
        let object = Object {
            bytes: request.body().to_vec(),
            generation: self.generation,
        };
        let reported = match self.manner {
            ServerMode::Lies => Object {
                bytes: b"another".to_vec(),
                generation: 0,
            },
            _ => Object {
                bytes: Vec::new(),
                ..object.clone()
            },
        };
        let tag = match self.manner {
            ServerMode::Lies => reported.e_tag(&path),
            _ => object.e_tag(&path),
        };
        if self.manner != ServerMode::Loses {
            self.writes_log
                .push((path.clone(), request.body().to_vec()));
            self.objects.insert(path, object);
        }
        let generation = reported.generation.to_string();
        respond(
            201,
            &[("etag", &tag), ("x-goog-generation", &generation)],
            "",
        )
    }
}
