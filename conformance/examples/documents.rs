//! A tiny engine, documents only, and the test by which it is judged:
//!
//! ```text
//! cargo run --package opa-conformance --example documents     # serves at http://127.0.0.1:8181
//! cargo test --package opa-conformance --example documents    # judges it
//! ```
//!
//! For the methods GET, PUT and DELETE it claims the capabilities `documents`, `gzip`, `metrics`
//! and
//! `provenance`, and keeps every rule of these. The test at the end of the file is all that a server of your own needs.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{Method, Request, Response, StatusCode, header, request::Parts};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

type Reply = Response<Full<Bytes>>;

const LONGEST_BODY: usize = 8 * 1024 * 1024;
/// Shorter answers are not worth packing.
const PACKED_FROM: usize = 1024;

fn main() -> std::io::Result<()> {
    serve(TcpListener::bind("127.0.0.1:8181")?)
}

/// Serves until the process ends.
fn serve(listener: TcpListener) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let documents = Arc::new(Mutex::new(json!({})));
        loop {
            let (stream, _) = listener.accept().await?;
            let documents = Arc::clone(&documents);
            let service = service_fn(move |request| answer(Arc::clone(&documents), request));
            // A client that goes away ends nothing but its own connection.
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

async fn answer(
    documents: Arc<Mutex<Value>>,
    request: Request<Incoming>,
) -> Result<Reply, http::Error> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, LONGEST_BODY).collect().await else {
        return error(StatusCode::BAD_REQUEST, "the body cannot be read");
    };
    let Some(path) = head.uri.path().strip_prefix("/v1/data") else {
        return match head.uri.path() {
            "/health" => reply(StatusCode::OK, &json!({}), false),
            _ => error(StatusCode::NOT_FOUND, "no such path"),
        };
    };
    let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let keys = path.split('/').filter(|key| !key.is_empty()).map(decoded);
    let keys: Vec<String> = keys.collect();
    let mut root = documents.lock().unwrap_or_else(PoisonError::into_inner);
    match head.method {
        Method::GET => get(&mut root, &keys, &head),
        Method::PUT => put(&mut root, &keys, &head, &body.to_bytes()),
        Method::DELETE => delete(&mut root, &keys),
        _ => error(StatusCode::METHOD_NOT_ALLOWED, "GET, PUT or DELETE"),
    }
}

fn get(root: &mut Value, keys: &[String], head: &Parts) -> Result<Reply, http::Error> {
    let start = Instant::now();
    let parameter = |name: &str| {
        let mut pairs = head.uri.query().unwrap_or_default().split('&');
        pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    };
    let input = parameter("input").map(|text| percent_decode_str(text).collect::<Vec<u8>>());
    if input.is_some_and(|text| serde_json::from_slice::<Value>(&text).is_err()) {
        return error(StatusCode::BAD_REQUEST, "the input is not JSON");
    }
    let found = find(root, keys).cloned();
    let evaluated = start.elapsed();
    let mut envelope = Map::new();
    if let Some(result) = found {
        envelope.insert("result".to_owned(), result);
    }
    if parameter("provenance") == Some("true") {
        let provenance = json!({"version": env!("CARGO_PKG_VERSION")});
        envelope.insert("provenance".to_owned(), provenance);
    }
    if parameter("metrics") == Some("true") || parameter("instrument") == Some("true") {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let metrics = json!({
            "timer_rego_query_eval_ns": nanoseconds(evaluated),
            "timer_server_handler_ns": nanoseconds(start.elapsed()),
            "counter_server_query_cache_hit": 0,
        });
        envelope.insert("metrics".to_owned(), metrics);
    }
    let accepted = head.headers.get(header::ACCEPT_ENCODING);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    let gzip = accepted.is_some_and(|value| value.contains("gzip"));
    reply(StatusCode::OK, &envelope.into(), gzip)
}

fn put(root: &mut Value, keys: &[String], head: &Parts, body: &[u8]) -> Result<Reply, http::Error> {
    let Ok(document) = serde_json::from_slice::<Value>(body) else {
        return error(StatusCode::BAD_REQUEST, "the body is not JSON");
    };
    if keys.is_empty() && !document.is_object() {
        return error(StatusCode::BAD_REQUEST, "the root is an object");
    }
    let if_none_match = head.headers.get(header::IF_NONE_MATCH);
    if if_none_match.is_some_and(|value| value == "*") && find(root, keys).is_some() {
        return empty(StatusCode::NOT_MODIFIED);
    }
    let mut place = root;
    for key in keys {
        let Value::Object(members) = place else {
            return error(StatusCode::NOT_FOUND, "a parent is not an object");
        };
        place = members.entry(key).or_insert_with(|| json!({}));
    }
    *place = document;
    empty(StatusCode::NO_CONTENT)
}

fn delete(root: &mut Value, keys: &[String]) -> Result<Reply, http::Error> {
    let Some((last, parents)) = keys.split_last() else {
        *root = json!({});
        return empty(StatusCode::NO_CONTENT);
    };
    let removed = match find(root, parents) {
        Some(Value::Object(members)) => members.remove(last).is_some(),
        Some(Value::Array(elements)) => {
            let index = last.parse().ok();
            let index = index.filter(|index: &usize| *index < elements.len());
            index.map(|index| elements.remove(index)).is_some()
        }
        _ => false,
    };
    if removed {
        return empty(StatusCode::NO_CONTENT);
    }
    error(StatusCode::NOT_FOUND, "no such document")
}

fn find<'a>(root: &'a mut Value, keys: &[String]) -> Option<&'a mut Value> {
    keys.iter().try_fold(root, |place, key| match place {
        Value::Object(members) => members.get_mut(key),
        Value::Array(elements) => elements.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

fn empty(status: StatusCode) -> Result<Reply, http::Error> {
    Response::builder().status(status).body(Full::default())
}

fn error(status: StatusCode, message: &str) -> Result<Reply, http::Error> {
    let code = match status {
        StatusCode::NOT_FOUND => "resource_not_found",
        _ => "invalid_parameter",
    };
    reply(status, &json!({"code": code, "message": message}), false)
}

fn reply(status: StatusCode, body: &Value, gzip: bool) -> Result<Reply, http::Error> {
    let mut body = body.to_string().into_bytes();
    let mut reply = Response::builder().status(status);
    reply = reply.header(header::CONTENT_TYPE, "application/json");
    if gzip && body.len() >= PACKED_FROM {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory cannot fail; should it, the answer goes out as it is.
        if let Ok(packed) = packer.write_all(&body).and_then(|()| packer.finish()) {
            body = packed;
            reply = reply.header(header::CONTENT_ENCODING, "gzip");
        }
    }
    reply.body(Full::new(body.into()))
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use conformance::Suite;
    use conformance::evidence::Event;
    use conformance::target::Target;
    use conformance::verdict::{Reason, Verdict};

    use super::*;

    #[test]
    fn the_server_keeps_the_rules_of_what_it_claims() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        std::thread::spawn(|| serve(listener));

        let capabilities = ["documents", "gzip", "metrics", "provenance"];
        let capabilities = capabilities.map(str::to_owned).into();
        let suite = Suite::builder(Target::at(None, Some(url), None, capabilities))
            .rules(["get", "put", "delete"].map(|method| format!("engine/v1/data/{method}")))
            .build()
            .expect("a suite");
        let (mut proven, mut broken) = (0, Vec::new());
        suite.run(|event| match event {
            Event::Judged(judged) => match judged.verdict {
                Verdict::Pass => proven += 1,
                // Behaviour that the documents leave open is recorded, not judged.
                Verdict::Recorded => {}
                // Rules that need policies, for example.
                Verdict::NotRun(Reason::NotClaimed(_)) => {}
                Verdict::NotRun(reason) => broken.push(format!("{}: {reason}", judged.rule)),
                // The step, what differs, and curl commands that repeat it.
                Verdict::Fail(failure) => broken.push(format!("{}: {failure}", judged.rule)),
            },
            Event::Leaked(leaked) => broken.push(format!("left behind: {:?}", leaked.names)),
            Event::Defect(defect) => broken.push(format!("the suite's own: {}", defect.what)),
            _ => {}
        });
        assert!(broken.is_empty(), "{}", broken.join("\n\n"));
        // A suite that judges nothing proves nothing.
        assert!(proven >= 30, "{proven} rules proven");
    }
}
