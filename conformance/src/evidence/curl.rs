//! The shell command that repeats a stored request.

use super::{Payload, Sent};
use crate::client::Base;
use crate::client::curl::{Body, RAW, encoded, http, raw};

/// The command line that repeats a stored request.
pub(crate) fn command(sent: &Sent) -> String {
    let body = match &sent.body {
        Payload::Empty => Body::Empty,
        Payload::Text(text) => Body::Text(text),
        Payload::Base64(text) => Body::Encoded(text.to_string()),
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
