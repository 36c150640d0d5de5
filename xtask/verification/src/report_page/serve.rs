//! Web server for pages that a browser checks.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Body of a page and its media type.
type Page = (String, &'static str);

/// Serves on each path the page that `body` returns for it, until the process ends.
///
/// # Errors
/// When no port is free.
pub(crate) fn serve(
    body: impl Fn(&str) -> Page + Send + Sync + 'static,
) -> Result<SocketAddr, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let body = Arc::new(body);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let body = Arc::clone(&body);
            // A client that disconnects ends only its own exchange.
            thread::spawn(move || answer(&stream, &*body));
        }
    });
    Ok(address)
}

fn answer(stream: &TcpStream, body: &dyn Fn(&str) -> Page) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    if head.is_empty() {
        // Browsers open connections without using them.
        return Ok(());
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    std::io::copy(
        &mut reader.by_ref().take(length.unwrap_or(0)),
        &mut std::io::sink(),
    )?;
    let (body, media_type) = body(head.split_whitespace().nth(1).unwrap_or("/"));
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}
