//! Span attributes of client and server requests.

use http::{Method, StatusCode, Version};
use opentelemetry::KeyValue;
use opentelemetry::trace::Status;

/// The most bytes of a text that others chose, so that spans which wait stay small.
const LONGEST: usize = 4096;

/// An attribute with a text that others chose, which is cut if it is long.
pub(super) fn text(name: &'static str, text: &str) -> KeyValue {
    let end = text.floor_char_boundary(LONGEST);
    KeyValue::new(name, text.get(..end).unwrap_or_default().to_owned())
}

/// The attributes of a method. One that is not of HTTP or PATCH is told beside.
pub(super) fn method(method: &Method) -> Vec<KeyValue> {
    match is_known(method) {
        true => vec![KeyValue::new(
            "http.request.method",
            method.as_str().to_owned(),
        )],
        false => vec![
            KeyValue::new("http.request.method", "_OTHER"),
            text("http.request.method_original", method.as_str()),
        ],
    }
}

pub(super) fn is_known(method: &Method) -> bool {
    let known = [
        Method::CONNECT,
        Method::DELETE,
        Method::GET,
        Method::HEAD,
        Method::OPTIONS,
        Method::PATCH,
        Method::POST,
        Method::PUT,
        Method::TRACE,
    ];
    known.contains(method)
}

/// The attributes of who serves: a host, and a port unless it is the usual one.
pub(super) fn server(host: &str, port: Option<u16>, secure: bool) -> Vec<KeyValue> {
    let usual = if secure { 443 } else { 80 };
    let host = host.trim_matches(['[', ']']);
    let mut attributes = vec![text("server.address", host)];
    if let Some(port) = port.filter(|port| ![0, usual].contains(port)) {
        attributes.push(KeyValue::new("server.port", i64::from(port)));
    }
    attributes
}

/// The attribute of the version of HTTP.
pub(super) fn version(version: Version) -> KeyValue {
    let text = match version {
        Version::HTTP_09 => "0.9",
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        Version::HTTP_3 => "3",
        _ => "1.1",
    };
    KeyValue::new("network.protocol.version", text)
}

/// The attribute of the status of an answer.
pub(super) fn status(status: StatusCode) -> KeyValue {
    KeyValue::new("http.response.status_code", i64::from(status.as_u16()))
}

/// The state of a span whose request failed.
pub(super) fn failed() -> Status {
    Status::error("")
}
