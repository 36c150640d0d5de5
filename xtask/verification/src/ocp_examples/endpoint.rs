//! HTTP server for the datasources in the examples.

use std::io;
use std::net::SocketAddr;

use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::servers::{Message, Reader};

/// Starts the server and returns its address. `/headers` returns the headers of the request, each
/// with a list of its values; `/users` returns two users.
///
/// # Errors
/// When no port is free.
pub(super) async fn start() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    Ok(address)
}

/// Serves requests until the client disconnects.
async fn serve(stream: TcpStream) -> io::Result<()> {
    let mut reader = Reader::new(stream);
    while let Some(request) = reader.message(false).await? {
        let body = answer(&request).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        reader.stream.write_all(head.as_bytes()).await?;
        reader.stream.write_all(body.as_bytes()).await?;
    }
    Ok(())
}

fn answer(request: &Message) -> Value {
    if request.first.contains(" /users ") {
        return json!({"users": [
            {"id": "alice", "roles": ["admin", "editor"]},
            {"id": "bob", "roles": ["viewer"]},
        ]});
    }
    let mut headers = Map::new();
    for (name, value) in &request.headers {
        headers.insert(capitalised(name), json!([value]));
    }
    Value::from(headers)
}

/// Capitalizes the words of a header name, as is usual in HTTP/1.
fn capitalised(name: &str) -> String {
    let parts = name.split('-').map(|part| {
        let mut letters = part.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    parts.collect::<Vec<_>>().join("-")
}
