//! HTTP server with a fixed response for every request, which conforms to no document.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Markup that has an effect in HTML, Markdown and TAP unless it is escaped.
pub(crate) const MARKUP: &str = "</pre></script><script>alert(1)</script>\n  ...\nnot ok 99 - x\n```\n# heading\u{1b}[31m\u{202e}";

/// Behaviour of the test server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answers {
    /// 200 with an empty JSON object; 404 for rules about health.
    Empty,
    /// 200 with the request head as the string `result`.
    Echo,
    /// Like `Echo`, but for paths that end in `/a` the result is 1.
    Fills,
    /// 204 for writes; for other requests, the result is 1 if the path ends in `/a`, otherwise
    /// null.
    Null,
    /// 200 with markup as the string `result`, which would run a script in a browser.
    Markup,
    /// Like `Empty` for `/health`; no response to other requests.
    Hangs,
    /// Like `Empty` for `/health`; an endless body for other requests.
    Endless,
    /// Like `Empty` for `/health`; for other requests a small compressed body with huge content.
    Bomb,
    /// Like `Empty` for `/health`; a string of 3 MiB for other requests.
    Long,
    /// Closes the first connection without a response; otherwise like `Empty`.
    ClosesOnce,
    /// 200 with the number of requests so far as the number `count`; for paths that end in `/a`
    /// also with the result 1.
    Counts,
    /// List without an end: each page has a cursor, either the same as the previous page or a new
    /// one.
    Pages { new: bool },
    /// Like `Empty`, but some responses of `/health` have an additional member: the first three do
    /// not have it, the next two do, the following two do not, and so on. The program requests
    /// `/health` once before its first run, and once in each run before the rules.
    Moves,
    /// 401 with the message `no entry`.
    Denies,
    /// 404 with a plain-text body.
    Missing,
    /// 200 with an HTML page.
    Page,
    /// Control plane with empty lists, which are objects instead of arrays. All writes fail because
    /// the database is locked.
    Locked,
    /// The response of a TLS server to a plain HTTP request.
    WantsTls,
}

/// Running server, which stops with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    /// Request lines in order of arrival.
    pub(crate) requests: Receiver<String>,
}

impl Server {
    pub(crate) fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port");
        let (sender, requests) = channel();
        thread::spawn(move || accept(&listener, answers, &sender));
        Self {
            url: format!("http://{address}"),
            requests,
        }
    }

    /// Returns the URL of an address at which no server listens.
    pub(crate) fn dead() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("http://{}", listener.local_addr().expect("the port"))
    }
}

/// Serves an address with the behaviour `Empty` until the process ends.
pub(crate) fn serve(address: &str) {
    let listener = TcpListener::bind(address).expect("the address");
    accept(&listener, Answers::Empty, &channel().0);
}

fn accept(listener: &TcpListener, answers: Answers, sender: &Sender<String>) {
    let health = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        let (sender, health) = (sender.clone(), Arc::clone(&health));
        // Each connection has its own thread, so a client that disconnects affects no other.
        thread::spawn(move || exchange(&stream, answers, &sender, &health));
    }
}

/// Reads a request; returns its head and its body.
pub(crate) fn request(reader: &mut impl BufRead) -> std::io::Result<(String, Vec<u8>)> {
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}

/// Sends a response with a status and a body, and closes the connection.
pub(crate) fn respond(mut stream: &TcpStream, status: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns a JSON string of 80 MiB, compressed with gzip.
fn bomb() -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"\"")?;
    for _ in 0..80 {
        encoder.write_all(&[b'x'; 1 << 20])?;
    }
    encoder.write_all(b"\"")?;
    encoder.finish()
}

/// Responds to a request. `health` counts the requests to `/health`.
fn exchange(
    stream: &TcpStream,
    answers: Answers,
    requests: &Sender<String>,
    health: &AtomicUsize,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (head, _) = request(&mut reader)?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    // The receiver may be gone, because most tests do not read the request lines.
    let _ = requests.send(line.clone());
    let answer = match answers {
        Answers::Hangs if !line.contains("/health") => {
            // Wait until the client times out and closes the connection.
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest)?;
            return Ok(());
        }
        Answers::Endless if !line.contains("/health") => {
            let mut stream = stream;
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\""
            )?;
            loop {
                stream.write_all(&[b'x'; 64 * 1024])?;
            }
        }
        Answers::Bomb if !line.contains("/health") => {
            let mut stream = stream;
            let packed = bomb()?;
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n",
                packed.len()
            )?;
            return stream.write_all(&packed);
        }
        Answers::Long if !line.contains("/health") => format!("\"{}\"", "x".repeat(3 << 20)),
        Answers::ClosesOnce => {
            static CLOSED: AtomicBool = AtomicBool::new(false);
            if !CLOSED.swap(true, Ordering::Relaxed) {
                return Ok(());
            }
            "{}".to_owned()
        }
        Answers::Pages { new } => {
            static PAGE: AtomicUsize = AtomicUsize::new(0);
            let page = PAGE.fetch_add(usize::from(new), Ordering::Relaxed);
            serde_json::json!({ "result": [], "next_cursor": format!("page{page}") }).to_string()
        }
        Answers::Denies => {
            return respond(stream, "401 Unauthorized", r#"{"message": "no entry"}"#);
        }
        Answers::Missing => return respond(stream, "404 Not Found", "404 page not found"),
        Answers::Locked if !line.starts_with("GET ") => {
            let busy =
                r#"{"code": "internal_error", "message": "database is locked (5) (SQLITE_BUSY)"}"#;
            return respond(stream, "500 Internal Server Error", busy);
        }
        Answers::Locked if line.contains(" /v1/bundles?") || line.contains(" /health ") => {
            "{}".to_owned()
        }
        Answers::Locked => return respond(stream, "404 Not Found", "404 page not found"),
        Answers::WantsTls => {
            let message = "Client sent an HTTP request to an HTTPS server.";
            return respond(stream, "400 Bad Request", message);
        }
        Answers::Page => {
            let mut stream = stream;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
            return write!(stream, "{head}<h1>Hello</h1>");
        }
        Answers::Empty | Answers::Moves if line.contains(" /health/") => {
            return respond(stream, "404 Not Found", "{}");
        }
        Answers::Counts => {
            static ASKED: AtomicUsize = AtomicUsize::new(0);
            let count = ASKED.fetch_add(1, Ordering::Relaxed);
            let answer = match line.contains("/a ") {
                true => serde_json::json!({ "result": 1, "count": count }),
                false => serde_json::json!({ "count": count }),
            };
            answer.to_string()
        }
        Answers::Moves if line.contains("/health") => {
            let count = health.fetch_add(1, Ordering::Relaxed);
            let answer = if (count.saturating_sub(1) / 2).is_multiple_of(2) {
                "{}"
            } else {
                "{\"more\": 1}"
            };
            answer.to_owned()
        }
        Answers::Empty
        | Answers::Hangs
        | Answers::Endless
        | Answers::Bomb
        | Answers::Long
        | Answers::Moves => "{}".to_owned(),
        Answers::Null if !line.starts_with("GET") => {
            let mut stream = stream;
            return stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        }
        Answers::Null | Answers::Fills if line.contains("/a ") => r#"{"result": 1}"#.to_owned(),
        Answers::Null => r#"{"result": null}"#.to_owned(),
        Answers::Markup => serde_json::json!({ "result": MARKUP }).to_string(),
        Answers::Echo | Answers::Fills => serde_json::json!({ "result": head }).to_string(),
    };
    respond(stream, "200 OK", &answer)
}
