//! Exchanges between a client and a server, as evidence and as text.

use std::io::Read as _;

use bytes::Bytes;

use crate::evidence::{Exchange, Payload, ReceivedResponse, SentRequest};
use crate::http_client::answer::BODY_LIMIT;
use crate::mock::{Reply, Request};

/// Number of characters shown of a body, in one line.
const MAX_BODY_CHARS: usize = 300;

/// Decodes the content encoding of a request body; a body that does not match its header is
/// returned unchanged.
pub(super) fn decoded_body(request: &Request) -> Bytes {
    decode(&request.headers, &request.body)
}

fn decode(headers: &[(String, String)], body: &Bytes) -> Bytes {
    let gzip = headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("content-encoding") && value.eq_ignore_ascii_case("gzip")
    });
    if !gzip {
        return body.clone();
    }
    let mut decoded = Vec::new();
    let decoder = flate2::read::MultiGzDecoder::new(body.as_ref());
    match decoder.take(BODY_LIMIT).read_to_end(&mut decoded) {
        Ok(_) => Bytes::from(decoded),
        Err(_) => body.clone(),
    }
}

/// Converts the exchange to an event of the evidence.
pub(super) fn event(rule: &str, base: &str, request: &Request, reply: Option<&Reply>) -> Exchange {
    Exchange {
        rule: rule.to_owned(),
        step: 0,
        identity: "client".to_owned(),
        request: SentRequest {
            method: request.method.clone(),
            url: format!("{base}{}", request.target),
            headers: request.headers.clone(),
            body: Payload::stored(&request.body),
        },
        response: reply.map(|reply| ReceivedResponse {
            status: reply.status,
            headers: reply.headers.clone(),
            body: Payload::stored(&reply.body),
        }),
        error: match reply {
            Some(_) => None,
            None => Some("the connection was closed without an answer".to_owned()),
        },
        milliseconds: 0.0,
    }
}

/// Formats the exchange on one line.
pub(super) fn line(request: &Request, reply: Option<&Reply>) -> String {
    let listed = ["accept", "authorization", "content-type", "if-none-match"];
    let mut line = format!("received: {} {}", request.method, request.target);
    for (name, value) in &request.headers {
        if listed.contains(&name.as_str()) {
            line.push_str(&format!(" [{name}: {value}]"));
        }
    }
    line.push_str(&format_body(&decoded_body(request)));
    match reply {
        Some(reply) => {
            let body = format_body(&decode(&reply.headers, &reply.body));
            line.push_str(&format!(" -> {}{body}", reply.status));
        }
        None => line.push_str(" -> closed without an answer"),
    }
    line
}

fn format_body(body: &[u8]) -> String {
    if body.is_empty() {
        return String::new();
    }
    let text = String::from_utf8_lossy(body);
    let mut excerpt: String = text.trim().chars().take(MAX_BODY_CHARS).collect();
    if excerpt.len() < text.trim().len() {
        excerpt.push('…');
    }
    format!(" {excerpt}")
}
