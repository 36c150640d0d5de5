//! Span attributes of client and server requests.

use http::{Method, StatusCode, Version};
use opentelemetry::KeyValue;
use opentelemetry::trace::Status;

/// Maximum bytes of external strings, so that queued spans stay small.
const LONGEST: usize = 4096;

/// Attribute with an external string, which is truncated if it is long.
pub(super) fn text(name: &'static str, text: &str) -> KeyValue {
    let end = text.floor_char_boundary(LONGEST);
    KeyValue::new(name, text.get(..end).unwrap_or_default().to_owned())
}

/// Attributes of a method. An unknown method is recorded in a separate attribute.
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

/// Attributes of the server: host, and port unless it is the default one.
pub(super) fn server(host: &str, port: Option<u16>, secure: bool) -> Vec<KeyValue> {
    let default_port = if secure { 443 } else { 80 };
    let host = host.trim_matches(['[', ']']);
    let mut attributes = vec![text("server.address", host)];
    if let Some(port) = port.filter(|port| ![0, default_port].contains(port)) {
        attributes.push(KeyValue::new("server.port", i64::from(port)));
    }
    attributes
}

/// Attribute of the HTTP version.
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

/// Attribute of the status of a response.
pub(super) fn status(status: StatusCode) -> KeyValue {
    KeyValue::new("http.response.status_code", i64::from(status.as_u16()))
}

/// Status of a span whose request failed.
pub(super) fn failed() -> Status {
    Status::error("")
}
