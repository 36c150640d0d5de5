//! The shell command that repeats an exchange.

use base64::Engine as _;

use crate::client::Base;
use crate::evidence::{Payload, Sent};
use crate::outgoing::Wire;
use crate::redact::REDACTED;

/// The method of stored requests that went straight to the socket.
pub(crate) const RAW: &str = "raw";

/// Longest body that a command line holds, in bytes.
const BODY_SHOWN: usize = 4000;

/// A `curl` command line (or for raw bytes one that pipes them to the socket).
pub(crate) fn command(base: &Base, wire: &Wire) -> String {
    match wire {
        Wire::Raw(bytes) => raw(base, &encoded(bytes)),
        Wire::Http(request) => {
            let url = format!("{}{}", base.url, request.path);
            http(
                request.method,
                &url,
                &request.headers,
                &Body::of(&request.body),
            )
        }
    }
}

/// The same for a request that was sent and stored.
pub(crate) fn repeated(sent: &Sent) -> String {
    let body = match &sent.body {
        Payload::Empty => Body::Empty,
        Payload::Text(text) => Body::Text(text),
        Payload::Base64(text) => Body::Encoded(text.clone()),
        Payload::Cut(cut) => Body::Encoded(encoded(&cut.start.bytes())),
    };
    if sent.method != RAW {
        return http(&sent.method, &sent.url, &sent.headers, &body);
    }
    let bytes = match body {
        Body::Encoded(text) => text,
        Body::Text(text) => encoded(text.as_bytes()),
        Body::Empty => String::new(),
    };
    Base::parse(&sent.url).map_or_else(|_| String::new(), |base| raw(&base, &bytes))
}

/// A body as a command line can hold it.
enum Body<'a> {
    Empty,
    Text(&'a str),
    /// In base64.
    Encoded(String),
}

impl<'a> Body<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok("") => Self::Empty,
            Ok(text) => Self::Text(text),
            Err(_) => Self::Encoded(encoded(bytes)),
        }
    }
}

fn encoded(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// `bytes` in base64.
fn raw(base: &Base, bytes: &str) -> String {
    let Base { host, port, .. } = base;
    let open = if base.tls {
        format!("openssl s_client -quiet -connect {host}:{port}")
    } else {
        format!("nc {host} {port}")
    };
    format!("echo {bytes} | base64 -d | {open}")
}

fn http(method: &str, url: &str, headers: &[(String, String)], body: &Body<'_>) -> String {
    let mut line = "curl -i".to_owned();
    match method {
        "GET" if matches!(body, Body::Empty) => {}
        "HEAD" => line.push_str(" -I"),
        method if !method.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            line.push_str(&format!(" -X {}", word(method)));
        }
        method => line.push_str(&format!(" -X {method}")),
    }
    if url.contains("/.") {
        line.push_str(" --path-as-is");
    }
    for (name, value) in headers {
        line.push_str(&format!(" -H {}", word(&format!("{name}: {value}"))));
    }
    let mut input = String::new();
    match body {
        Body::Empty => {}
        Body::Text(text) if text.len() <= BODY_SHOWN => {
            line.push_str(&format!(" --data-binary {}", word(text)));
        }
        Body::Encoded(text) if text.len() <= BODY_SHOWN => {
            input = format!("echo {text} | base64 -d | ");
            line.push_str(" --data-binary @-");
        }
        Body::Text(_) | Body::Encoded(_) => line.push_str(" --data-binary @BODY"),
    }
    format!("{input}{line} {}", word(url))
}

/// A word of the shell; a redacted token is a variable that the user sets.
pub(crate) fn word(text: &str) -> String {
    let quoted = text.replace('\'', "'\\''");
    format!("'{}'", quoted.replace(REDACTED, "'\"$CONFORMANCE_TOKEN\"'"))
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::client::Outgoing;
    use bytes::Bytes;

    #[test]
    fn commands_repeat_what_was_sent() {
        let base = Base::parse("http://127.0.0.1:1").expect("an address");
        let cases = [
            (
                "PUT",
                "/v1/data/a%20b",
                vec![("authorization", "Bearer <redacted>")],
                "it's",
                "curl -i -X PUT -H 'authorization: Bearer '\"$CONFORMANCE_TOKEN\"'' \
                 --data-binary 'it'\\''s' 'http://127.0.0.1:1/v1/data/a%20b'",
            ),
            ("GET", "/a", vec![], "", "curl -i 'http://127.0.0.1:1/a'"),
            (
                "HEAD",
                "/../a",
                vec![],
                "",
                "curl -i -I --path-as-is 'http://127.0.0.1:1/../a'",
            ),
        ];
        for (method, path, headers, body, expected) in cases {
            let wire = Wire::Http(Outgoing {
                method,
                path: path.to_owned(),
                headers: headers
                    .iter()
                    .map(|(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                body: Bytes::from(body),
            });
            assert_eq!(command(&base, &wire), expected);
        }
    }
}
