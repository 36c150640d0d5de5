//! Tests with a host that answers from a table.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::options::MAX_BODY;
use crate::Value;
use crate::builtins::{BuiltinContext, Caches, Call, Failure, Session, function};
use crate::host::{Cancellation, Host, HostError, HttpRequest, HttpResponse};
use crate::meter::{AbortReason, Meter};
use crate::syntax::Location;
use crate::value::from_json;

mod connections;
mod requests;
mod responses;

/// Base URL of requests in these tests.
const SERVER: &str = "http://server.test";

/// Host that responds according to the request path and records requests.
#[derive(Debug, Default)]
struct Script {
    requests: Mutex<Vec<HttpRequest>>,
    pauses: Mutex<Vec<Duration>>,
}

impl Script {
    fn requests(&self) -> Vec<HttpRequest> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.clone()
    }

    /// Returns the last request.
    fn last(&self) -> HttpRequest {
        self.requests().pop().expect("a request")
    }
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("compressed");
    encoder.finish().expect("compressed")
}

/// Returns the table's response to a numbered request.
fn answer(request: &HttpRequest, number: usize) -> Result<HttpResponse, HostError> {
    let length = request.body.as_ref().map_or(0, Vec::len);
    let method = request.method.as_str().to_lowercase();
    let text = format!(r#"{{"method":"{method}","length":{length},"count":{number}}}"#);
    let date = ("date", "Thu, 01 Jan 1970 00:00:00 GMT");
    let json = ("content-type", "application/json");
    let stale = ("cache-control", "max-age=0");
    let gzip = ("content-encoding", "gzip");
    let is_conditional = request.headers.contains_key("if-none-match");
    let path = request.url.path();
    let (code, headers, body) = match path {
        "/redirect" => (302, vec![("location", "/json")], text.into_bytes()),
        "/away" => (307, vec![("location", "http://else.test/json")], Vec::new()),
        "/endless" => (302, vec![("location", "/endless")], Vec::new()),
        "/fine" => (200, vec![("x-two", "1"), ("x-two", "2")], b"plain".to_vec()),
        "/yaml" => (
            200,
            vec![("content-type", "application/yaml")],
            b"a: [1]".to_vec(),
        ),
        "/tag" if is_conditional => (304, vec![date, ("x-new", "1"), stale], Vec::new()),
        "/tag" => (
            200,
            vec![json, date, ("etag", "\"x\""), stale],
            text.into_bytes(),
        ),
        "/error" => (500, vec![json], text.into_bytes()),
        "/packed" => (200, vec![json, gzip], packed(b"{\"a\":1}")),
        "/bomb" => (200, vec![gzip], packed(&vec![b' '; MAX_BODY + 1])),
        "/slow" => return Err(HostError::TimedOut),
        "/refused" => return Err(HostError::ConnectionRefused),
        "/nowhere" => return Err(HostError::NoSuchHost),
        "/long" => return Err(HostError::TooLong),
        "/broken" => return Err(HostError::Broken("EOF".to_owned())),
        "/untaken" => return Err(HostError::Refused("not so".to_owned())),
        "/forbidden" => return Err(HostError::Disallowed),
        "/cancelled" => return Err(AbortReason::Cancelled.into()),
        "/third" if number < 3 => return Err(HostError::Broken("EOF".to_owned())),
        _ => (200, vec![json], text.into_bytes()),
    };
    let reason = if path == "/fine" { "Fine" } else { "OK" };
    let headers = headers.into_iter();
    Ok(HttpResponse {
        code,
        reason: reason.to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        body,
    })
}

impl Host for Script {
    fn send(
        &self,
        request: HttpRequest,
        _cancellation: Cancellation<'_>,
    ) -> Result<HttpResponse, HostError> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        answer(&request, requests.len())
    }

    fn file(&self, path: &str) -> io::Result<String> {
        match path {
            "/cert" => Ok(connections::certificate("file")),
            "/key" => Ok(connections::key("file")),
            "/folder" => Err(io::ErrorKind::IsADirectory.into()),
            "/closed" => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "CERT" => Some(connections::certificate("variable")),
            "KEY" => Some(connections::key("variable")),
            _ => None,
        }
    }

    fn pause(&self, time: Duration, _cancellation: Cancellation<'_>) -> Result<(), AbortReason> {
        let mut pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        pauses.push(time);
        Ok(())
    }
}

/// State shared by the evaluations of one test.
#[derive(Debug, Default)]
struct Shared {
    host: Script,
    caches: Caches,
}

impl Shared {
    /// Sends a request in a new evaluation.
    fn send(&self, request: &str) -> Result<Value, Failure> {
        self.send_in(&mut Session::default(), request)
    }

    /// Sends a request in an evaluation that may have sent others.
    fn send_in(&self, session: &mut Session, request: &str) -> Result<Value, Failure> {
        let context = BuiltinContext {
            host: Some(&self.host),
            caches: Some(&self.caches),
        };
        send(session, context, request)
    }
}

/// Sends a request given as JSON, in which `HOST` is the server.
fn send(
    session: &mut Session,
    context: BuiltinContext<'_>,
    request: &str,
) -> Result<Value, Failure> {
    let request = from_json(request.replace("HOST", SERVER).as_bytes()).expect("JSON");
    let location = Location {
        file: "p.rego".into(),
        row: 3,
        col: 1,
        offset: 0,
        length: 0,
    };
    let mut call = Call {
        location: &location,
        session,
        meter: &Meter::default(),
        outside: context,
    };
    let (_, function) = function("http.send").expect("the function");
    function(&mut call, &[request]).map(|answer| answer.expect("an answer"))
}

/// Serializes the value at a path of member names separated by dots.
fn member(value: &Value, path: &str) -> String {
    let mut path = path.split('.');
    let found = path.try_fold(value, |value, name| value.get(name));
    found.map(ToString::to_string).unwrap_or_default()
}
