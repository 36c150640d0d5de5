//! The client that is tested: asks whether a user may do something.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// Asks the engine for a decision.
pub fn is_allowed(engine: &str, user: &str) -> Result<bool, Box<dyn Error>> {
    let input = json!({"input": {"user": user}}).to_string();
    let (status, body) = send(engine, "POST", "/v1/data/authz/allow", &input)?;
    if status != 200 {
        return Err(format!("the engine answers {status}").into());
    }
    let decision: Value = serde_json::from_str(&body)?;
    // Undefined is no result at all, and no permission.
    Ok(decision.get("result") == Some(&Value::Bool(true)))
}

/// Sends a request; a client of yours has a library for this.
pub fn send(
    url: &str,
    method: &str,
    path: &str,
    body: &str,
) -> Result<(u16, String), Box<dyn Error>> {
    let host = url.strip_prefix("http://").ok_or("not http")?;
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
    let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
    Ok((status, body.to_owned()))
}
