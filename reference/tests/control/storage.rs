//! A server that keeps objects as S3, Azure and Google do, and fails as they may.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How the server treats requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As it should.
    Faithful,
    /// Conditions of writes are not looked at.
    Ignores,
    /// Writes with conditions are answered 501.
    Refuses,
    /// Writes with conditions are answered 412, whatever they say.
    Distrusts,
    /// A write is answered with 200, and nothing is kept.
    Loses,
    /// A write is answered with an ETag that is not the object's.
    Lies,
    /// There is no room for more.
    Full,
    /// Only writes are allowed.
    Blind,
    /// Nothing is answered.
    Silent,
    /// Writes are received and neither kept nor answered.
    Stalls,
}

/// A storage server with its objects.
#[derive(Debug, Clone)]
pub(crate) struct Storage {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    manner: Manner,
    /// Whether those that hang go on hanging.
    held: bool,
    objects: BTreeMap<String, Object>,
    /// How many writes were made, and how many now wait.
    generation: u64,
    waiting: usize,
    /// Every content that an object had, in order.
    kept: Vec<(String, Vec<u8>)>,
}

#[derive(Debug, Clone)]
struct Object {
    bytes: Vec<u8>,
    generation: u64,
}

impl Object {
    /// Azure's is of the write, the others' is of the content.
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

    fn answer(&self, path: &str, with_body: bool) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nETag: {}\r\nx-goog-generation: {}\r\n\
             Last-Modified: Sun, 01 Nov 2026 00:00:00 GMT\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.e_tag(path),
            self.generation,
            self.bytes.len()
        );
        let body: &[u8] = if with_body { &self.bytes } else { &[] };
        [head.as_bytes(), body].concat()
    }
}

/// A request: its method, path, headers in lower case, and body.
struct Request {
    method: String,
    path: String,
    head: String,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }
}

impl Storage {
    pub(crate) async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let storage = Self {
            address: listener.local_addr()?,
            state: Arc::new(Mutex::new(State {
                manner: Manner::Faithful,
                held: false,
                objects: BTreeMap::new(),
                generation: 0,
                waiting: 0,
                kept: Vec::new(),
            })),
        };
        let serving = storage.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let storage = serving.clone();
                tokio::spawn(async move { storage.serve(stream).await });
            }
        });
        Ok(storage)
    }

    /// The `object_storage` of a bundle of this name, of a kind.
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

    /// The requests that put the secrets of all kinds.
    pub(crate) fn secrets(&self) -> String {
        let url = format!("http://{}", self.address);
        [
            r#"admin PUT /v1/secrets/aws {"value":{"type":"aws_auth","access_key_id":"k","secret_access_key":"s"}} => 200"#.to_owned(),
            r#"admin PUT /v1/secrets/azure {"value":{"type":"azure_auth","account_name":"acc","account_key":"aHVzaA=="}} => 200"#.to_owned(),
            format!(r#"admin PUT /v1/secrets/gcp {{"value":{{"type":"gcp_auth","credentials":{{"private_key":"h","private_key_id":"i","client_email":"e","gcs_base_url":"{url}","disable_oauth":true}}}}}} => 200"#),
        ]
        .join("\n")
    }

    /// From here on requests are treated like this, those that hang at present, too.
    pub(crate) fn behave(&self, manner: Manner) {
        let mut state = self.state();
        state.manner = manner;
        state.held = matches!(manner, Manner::Silent | Manner::Stalls);
    }

    /// Treats requests that come as it should, and leaves those alone that hang.
    pub(crate) fn pass_new(&self) {
        self.state().manner = Manner::Faithful;
    }

    /// What is kept of a bundle.
    pub(crate) fn object(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let found = state.objects.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, object)| object.bytes.clone())
    }

    /// Damages what is kept of a bundle without a word, or takes it away.
    pub(crate) fn damage(&self, name: &str, gone: bool) {
        let mut state = self.state();
        state.generation += 1;
        let generation = state.generation;
        match gone {
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

    /// How many writes of a bundle were kept.
    pub(crate) fn writes(&self, name: &str) -> Vec<Vec<u8>> {
        let state = self.state();
        let kept = state.kept.iter().filter(|(path, _)| path.ends_with(name));
        kept.map(|(_, bytes)| bytes.clone()).collect()
    }

    /// How many writes wait to be kept.
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(self, mut stream: TcpStream) -> std::io::Result<()> {
        let request = receive(&mut stream).await?;
        let manner = self.state().manner;
        let stalls = match manner {
            Manner::Stalls => request.method == "PUT",
            manner => manner == Manner::Silent,
        };
        if stalls {
            self.state().waiting += 1;
            while self.state().held {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // What was received is kept even if nobody waits for the answer any more.
            self.state().waiting -= 1;
        }
        let answer = self.state().answer(&request);
        stream.write_all(&answer).await
    }
}

impl State {
    fn answer(&mut self, request: &Request) -> Vec<u8> {
        let path = request.path.as_str();
        let found = self.objects.get(path).cloned();
        match (request.method.as_str(), found) {
            ("HEAD" | "GET", _) if self.manner == Manner::Blind => status("403 Forbidden"),
            ("HEAD" | "GET", None) => status("404 Not Found"),
            ("HEAD", Some(object)) => object.answer(path, false),
            ("GET", Some(object)) => object.answer(path, true),
            ("PUT", found) => self.put(request, found.as_ref()),
            _ => status("405 Method Not Allowed"),
        }
    }

    fn put(&mut self, request: &Request, found: Option<&Object>) -> Vec<u8> {
        let path = request.path.clone();
        let wanted = [
            request.header("if-none-match").map(|_| found.is_none()),
            request
                .header("if-match")
                .map(|tag| found.is_some_and(|found| found.e_tag(&path) == tag)),
            request
                .header("x-goog-if-generation-match")
                .map(|wanted| found.map_or(0, |found| found.generation).to_string() == wanted),
        ];
        let conditional = wanted.iter().any(Option::is_some);
        let holds = !wanted.contains(&Some(false));
        match self.manner {
            Manner::Full => return status("507 Insufficient Storage"),
            Manner::Refuses if conditional => return status("501 Not Implemented"),
            Manner::Distrusts if conditional => return status("412 Precondition Failed"),
            Manner::Ignores => {}
            _ if !holds => return status("412 Precondition Failed"),
            _ => {}
        }
        self.generation += 1;
        let object = Object {
            bytes: request.body.clone(),
            generation: self.generation,
        };
        let told = match self.manner {
            Manner::Lies => Object {
                bytes: b"another".to_vec(),
                generation: 0,
            },
            _ => Object {
                bytes: Vec::new(),
                ..object.clone()
            },
        };
        let tag = match self.manner {
            Manner::Lies => told.e_tag(&path),
            _ => object.e_tag(&path),
        };
        if self.manner != Manner::Loses {
            self.kept.push((path.clone(), request.body.clone()));
            self.objects.insert(path, object);
        }
        format!(
            "HTTP/1.1 201 Created\r\nETag: {tag}\r\nx-goog-generation: {}\r\n\
             Content-Length: 0\r\nConnection: close\r\n\r\n",
            told.generation
        )
        .into_bytes()
    }
}

fn status(line: &str) -> Vec<u8> {
    format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}

/// Reads one request.
async fn receive(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut received = Vec::new();
    let mut part = vec![0; 64 << 10];
    loop {
        let read = stream.read(&mut part).await?;
        received.extend(part.iter().take(read));
        let end = received.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else {
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            continue;
        };
        let (head, body) = received.split_at(end + 4);
        let head = String::from_utf8_lossy(head).into_owned();
        let mut request = Request {
            method: head.split(' ').next().unwrap_or_default().to_owned(),
            path: head
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .replace("%2E", ".")
                .replace("%2D", "-"),
            body: body.to_vec(),
            head,
        };
        if let Some((path, _)) = request.path.split_once('?') {
            request.path = path.to_owned();
        }
        let length = request.header("content-length");
        let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        if request.body.len() >= length {
            return Ok(request);
        }
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
