//! Engine that stores documents and policies, with a selectable defect.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Map, Value, json};

use crate::server::{request, respond};

/// Defect of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// No defect.
    Stores,
    /// Does not respond to reads of one document.
    Holds,
    /// Responds to removals with success, without removing anything.
    Keeps,
    /// Changes the document `other` with every write.
    Meddles,
    /// Refuses removals.
    Refuses,
    /// Responds to removals and lists with errors.
    Fails,
    /// Identifies itself as OPA 1.22.0, but has no query endpoint.
    Opa,
    /// Has a policy that determines the response to `POST /`.
    Main,
    /// Responds to writes with 200 and an empty body, and to missing documents with 404.
    Slips,
}

/// Running engine, which stops with the process.
pub(crate) struct Store {
    pub(crate) url: String,
    /// Request lines in order of arrival.
    pub(crate) requests: Receiver<String>,
    shelf: Objects,
}

/// Stored documents and policies by path.
type Objects = Arc<Mutex<BTreeMap<String, Value>>>;

impl Store {
    /// Starts an engine that already contains a document and a policy of another user.
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("the port"));
        let (sender, requests) = channel();
        let shelf = Objects::default();
        let documents = Arc::clone(&shelf);
        let put = |path: &str, value| {
            documents
                .lock()
                .expect("the shelf")
                .insert(path.into(), value)
        };
        put("/v1/data/theirs", json!({"a": 1}));
        put("/v1/policies/theirs.rego", json!("package theirs"));
        if manner == Manner::Main {
            let policy = json!("package system\n\nmain := 1\n");
            put("/v1/policies/main.rego", policy);
        }
        let documents = Arc::clone(&shelf);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (documents, sender) = (Arc::clone(&documents), sender.clone());
                // Each connection has its own thread, so a client that disconnects affects no
                // other.
                thread::spawn(move || exchange(&stream, manner, &documents, &sender));
            }
        });
        Self {
            url,
            requests,
            shelf,
        }
    }

    /// Returns the paths of the stored objects.
    pub(crate) fn paths(&self) -> Vec<String> {
        let shelf = self.shelf.lock().expect("the shelf");
        shelf.keys().cloned().collect()
    }
}

fn exchange(
    stream: &TcpStream,
    manner: Manner,
    shelf: &Objects,
    requests: &Sender<String>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (head, body) = request(&mut reader)?;
    let line = head.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    // The receiver may be gone, because most tests do not read the request lines.
    let _ = requests.send(line.to_owned());
    let one = path.starts_with("/v1/data/");
    if manner == Manner::Holds && method == "GET" && one {
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest)?;
        return Ok(());
    }
    if manner == Manner::Opa
        && let Some((status, answer)) = as_opa(method, path, &head)
    {
        return respond(stream, status, answer);
    }
    let (status, answer) = {
        let mut shelf = shelf.lock().expect("the shelf");
        answered(&mut shelf, manner, method, path, &body)
    };
    respond(stream, status, &answer)
}

/// Returns the response to requests by which the program recognizes OPA.
fn as_opa(method: &str, path: &str, head: &str) -> Option<(&'static str, &'static str)> {
    const MISSING: &str = "404 page not found";
    Some(match (method, path) {
        ("GET", "/") => ("200 OK", "Open Policy Agent"),
        ("GET", path) if path.starts_with("/v1/conformance_doctor/") => ("404 Not Found", MISSING),
        ("GET", path) if path.starts_with("/health/") => ("404 Not Found", MISSING),
        ("GET", path) if path.starts_with("/v1/query") => ("404 Not Found", MISSING),
        ("GET", path) if path.contains("provenance=true") => (
            "200 OK",
            r#"{"provenance": {"version": "1.22.0"}, "metrics": {}, "explanation": []}"#,
        ),
        ("POST", path) if path.starts_with("/v1/compile/") => match head.contains("vnd.opa.") {
            true => ("200 OK", "{}"),
            false => (
                "400 Bad Request",
                r#"{"code": "invalid_parameter", "message": "unsupported header"}"#,
            ),
        },
        _ => return None,
    })
}

fn answered(
    shelf: &mut BTreeMap<String, Value>,
    manner: Manner,
    method: &str,
    path: &str,
    body: &[u8],
) -> (&'static str, String) {
    let none = ("204 No Content", String::new());
    match (method, path) {
        ("PUT", path) => {
            let text = || Value::from(String::from_utf8_lossy(body).into_owned());
            let value = serde_json::from_slice(body).unwrap_or_else(|_| text());
            if manner == Manner::Meddles {
                let count = shelf.len();
                shelf.insert("/v1/data/other".to_owned(), json!(count));
            }
            shelf.insert(path.to_owned(), value);
            match manner {
                Manner::Slips => ("200 OK", String::new()),
                _ => none,
            }
        }
        ("DELETE", _) | (_, "/v1/data" | "/v1/policies") if manner == Manner::Fails => {
            ("503 Service Unavailable", "{}".to_owned())
        }
        ("DELETE", _) if manner == Manner::Refuses => ("403 Forbidden", "{}".to_owned()),
        ("DELETE", _) if manner == Manner::Keeps => none,
        ("DELETE", path) => match shelf.remove(path) {
            Some(_) => none,
            None => ("404 Not Found", "{}".to_owned()),
        },
        (_, "/v1/data") => {
            let members = below(shelf, "/v1/data/");
            let members: Map<String, Value> = members
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            ("200 OK", json!({ "result": members }).to_string())
        }
        (_, "/v1/policies") => {
            let items = below(shelf, "/v1/policies/");
            let items: Vec<Value> = items
                .map(|(id, raw)| json!({"id": id, "raw": raw}))
                .collect();
            ("200 OK", json!({ "result": items }).to_string())
        }
        (_, path) if manner == Manner::Slips && path.starts_with("/v1/data/") => {
            ("404 Not Found", "{}".to_owned())
        }
        _ => ("200 OK", "{}".to_owned()),
    }
}

fn below<'a>(
    shelf: &'a BTreeMap<String, Value>,
    start: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let name =
        move |(path, value): (&'a String, &'a Value)| Some((path.strip_prefix(start)?, value));
    shelf.iter().filter_map(name)
}
