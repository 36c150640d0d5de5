//! Server with the same response to every request, unlike any conforming server.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Markup that breaks out of HTML, Markdown and TAP unless it is escaped.
pub(crate) const MARKUP: &str = "</pre></script><script>alert(1)</script>\n  ...\nnot ok 99 - x\n```\n# heading\u{1b}[31m\u{202e}";

/// Behaviour of the test server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answers {
    /// 200 and an empty JSON object; 404 for health rules, which do not exist.
    Empty,
    /// 200 and, as the string `result`, the request head.
    Echo,
    /// Like `Echo`, but paths that end in `/a` have the result 1.
    Fills,
    /// 204 for writes, the result 1 for paths that end in `/a`, and the result null for everything
    /// else.
    Null,
    /// 200 and, as the string `result`, markup that tries to run in a reader's browser.
    Markup,
    /// `/health` like `Empty`; no response to everything else.
    Hangs,
    /// `/health` like `Empty`, everything else with an endless body.
    Endless,
    /// `/health` like `Empty`, everything else with a small compressed body that expands to a huge
    /// one.
    Bomb,
    /// `/health` like `Empty`, everything else with a string of 3 MiB.
    Long,
    /// Closes the first connection without a response; then like `Empty`.
    ClosesOnce,
    /// 200 and, as the number `count`, the number of requests so far; paths that end in `/a` have
    /// the result 1 too.
    Counts,
    /// Responds with a page of a list that never ends: with the previous page's cursor, or with a
    /// new one each time.
    Pages { new: bool },
    /// Responds like `Empty`, except that `/health` has an additional member in some responses: not
    /// in the first three, in the next two, not in the two after them, and so on. A program checks
    /// health once before its first run, and each run once before its rules.
    Moves,
    /// Responds with 401 and the message `no entry`.
    Denies,
    /// Responds with 404 and a plain-text body.
    Missing,
    /// Responds with 200 and an HTML page.
    Page,
    /// Empty control plane whose lists are empty objects; every write fails because the database is
    /// locked.
    Locked,
    /// Responds like a TLS server to a plain HTTP request.
    WantsTls,
}

/// Running server, which ends with the test program.
pub(crate) struct Server {
    pub(crate) url: String,
    /// Request lines of the received requests, in order of arrival.
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

    /// Returns an address without a listener.
    pub(crate) fn dead() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("http://{}", listener.local_addr().expect("the port"))
    }
}

/// Serves an address like `Empty` until the process ends.
pub(crate) fn serve(address: &str) {
    let listener = TcpListener::bind(address).expect("the address");
    accept(&listener, Answers::Empty, &channel().0);
}

fn accept(listener: &TcpListener, answers: Answers, sender: &Sender<String>) {
    let health = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        let (sender, health) = (sender.clone(), Arc::clone(&health));
        // A client that disconnects ends only its own exchange.
        thread::spawn(move || exchange(&stream, answers, &sender, &health));
    }
}

/// Reads the head and the body of a request.
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

/// Responds with this status and body, and closes the connection.
pub(crate) fn respond(mut stream: &TcpStream, status: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Compressed JSON string of 80 MiB.
fn bomb() -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"\"")?;
    for _ in 0..80 {
        encoder.write_all(&[b'x'; 1 << 20])?;
    }
    encoder.write_all(b"\"")?;
    encoder.finish()
}

/// Responds to one request; `health` counts the requests to `/health`.
fn exchange(
    stream: &TcpStream,
    answers: Answers,
    seen: &Sender<String>,
    health: &AtomicUsize,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (head, _) = request(&mut reader)?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    // Most tests do not read the request lines.
    let _ = seen.send(line.clone());
    let answer = match answers {
        Answers::Hangs if !line.contains("/health") => {
            // Until the client times out and closes the connection.
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
            let told = "Client sent an HTTP request to an HTTPS server.";
            return respond(stream, "400 Bad Request", told);
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
            let asked = ASKED.fetch_add(1, Ordering::Relaxed);
            let answer = match line.contains("/a ") {
                true => serde_json::json!({ "result": 1, "count": asked }),
                false => serde_json::json!({ "count": asked }),
            };
            answer.to_string()
        }
        Answers::Moves if line.contains("/health") => {
            let asked = health.fetch_add(1, Ordering::Relaxed);
            let answer = if (asked.saturating_sub(1) / 2).is_multiple_of(2) {
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
