//! Executes scripts of requests and expected responses, one pair per line.

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use reference::engine::{Engine, Options};
use reference::http::{Reply, Request};

/// Creates an engine with options.
pub(crate) fn engine(options: Options) -> Engine {
    match Engine::open(&options) {
        Ok(engine) => engine,
        Err(failure) => panic!("the engine does not start: {failure}"),
    }
}

/// Executes lines of the form `METHOD TARGET [NAME: VALUE] BODY => STATUS BODY` on a new engine;
/// headers and bodies are optional. Of an error object, only the code is compared.
#[track_caller]
pub(crate) fn run_script(lines: &str) {
    run_script_on(&Engine::default(), lines);
}

/// Executes lines on an existing engine.
#[track_caller]
pub(crate) fn run_script_on(engine: &Engine, lines: &str) {
    let mut wrong = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((request, expected)) = line.split_once("=>") else {
            panic!("no `=>` in `{line}`");
        };
        let answered = format_reply(&engine.respond(read(request.trim())));
        if answered != expected.trim() {
            wrong.push(format!("{line}\n    answered: {answered}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Creates a request with a body.
pub(crate) fn request(method: &str, target: &str, headers: HeaderMap, body: Vec<u8>) -> Request {
    let mut request = http::Request::new(Bytes::from(body));
    match (method.parse(), target.parse()) {
        (Ok(method), Ok(target)) => {
            *request.method_mut() = method;
            *request.uri_mut() = target;
        }
        _ => panic!("`{method} {target}` is not a request line"),
    }
    *request.headers_mut() = headers;
    Request::from(request)
}

fn read(line: &str) -> Request {
    let (method, rest) = line.split_once(' ').unwrap_or((line, "/"));
    let (target, mut rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut headers = HeaderMap::new();
    while let Some((header, tail)) = rest
        .trim()
        .strip_prefix("[")
        .and_then(|rest| rest.split_once("] "))
    {
        let Some((name, value)) = header.split_once(": ") else {
            break;
        };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            headers.append(name, value);
        }
        rest = tail;
    }
    request(method, target, headers, rest.trim().as_bytes().to_vec())
}

/// Formats a response as its status and body. For an error object, the body is its code; for an
/// empty body, a dash.
pub(crate) fn format_reply(reply: &Reply) -> String {
    let status = reply.status.as_u16();
    let body = reply.body.bytes();
    let text = String::from_utf8_lossy(&body);
    let error: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let code = error.as_ref().and_then(|error| error.get("code")?.as_str());
    match (code, text.trim_end()) {
        (Some(code), _) => format!("{status} {code}"),
        (None, "") => status.to_string(),
        (None, text) => format!("{status} {text}"),
    }
}
