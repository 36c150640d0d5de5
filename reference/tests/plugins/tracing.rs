//! Spans of requests and their attributes.

use http::Method;
use serde_json::{Value, json};

use crate::collector::{Collector, ReceivedSpan};
use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, bundle};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

const POLICY: &str = r#"
package p

import rego.v1

conflict := 1 if input.x
conflict := 2 if input.x
sent := http.send({
    "method": "GET",
    "url": sprintf("%s?secret", [input.url]),
    "timeout": "1h",
    "headers": {"traceparent": "own", "tracestate": "own=1"},
    "raise_error": false,
})
"#;

/// Kinds of spans, with their numbers in OTLP.
const SERVER: i32 = 2;
const CLIENT: i32 = 3;

/// Starts an engine that exports spans to a collector after a short time.
async fn traced(mut config: Value, tracing: Value) -> Done<(Environment, Collector)> {
    let collector = Collector::start().await?;
    config["distributed_tracing"] = sent_to(&collector, tracing);
    Ok((Environment::start(config).await?, collector))
}

/// Returns a section `distributed_tracing` that names a collector, with further members.
pub(crate) fn sent_to(collector: &Collector, more: Value) -> Value {
    let mut section = json!({
        "type": "http",
        "address": collector.address.to_string(),
        "batch_span_processor_options": {"batch_timeout_ms": 10},
    });
    if let (Some(members), Value::Object(more)) = (section.as_object_mut(), more) {
        members.extend(more);
    }
    section
}

/// Returns a `traceparent` header of a client, with or without the flag for sampling.
fn traceparent(sampled: bool) -> String {
    format!("00-{TRACE}-{PARENT}-0{}", u8::from(sampled))
}

/// Sends a request with headers; returns the status and the body of the response.
async fn send_request(
    environment: &Environment,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Done<(u16, Value)> {
    let running = environment.running.as_ref().ok_or("no engine")?;
    let address = running.engine.ok_or("no address")?;
    let direct = reqwest::Client::builder().no_proxy();
    let client = direct.redirect(reqwest::redirect::Policy::none()).build()?;
    let mut request = client.request(method, format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !body.is_null() {
        request = request.body(body.to_string());
    }
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let body = answer.bytes().await?;
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

async fn post(environment: &Environment, path: &str, input: Value) -> Done<Value> {
    let body = json!({"input": input});
    Ok(send_request(environment, Method::POST, path, &[], &body)
        .await?
        .1)
}

async fn put_policy(environment: &Environment) -> Done {
    let running = environment.running.as_ref().ok_or("no engine")?;
    let address = running.engine.ok_or("no address")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("http://{address}/v1/policies/p");
    let answer = client.put(url).body(POLICY).send().await?;
    assert_eq!(answer.status(), 200);
    Ok(())
}

/// Returns a predicate for spans with a path.
fn about(path: &str) -> impl Fn(&ReceivedSpan) -> bool {
    move |sent| sent.attributes.get("url.path").is_some_and(|of| of == path)
}

#[tokio::test]
async fn a_span_says_what_was_asked_and_answered() -> Done {
    let resource = json!({
        "service_version": "1.2",
        "service_instance_id": "i",
        "service_namespace": "n",
        "deployment_environment": "test",
    });
    let tracing = json!({"service_name": "engine", "resource": resource});
    let (environment, collector) = traced(json!({}), tracing).await?;
    let parent = traceparent(true);
    let headers = [
        ("traceparent", parent.as_str()),
        ("tracestate", "k=v"),
        ("user-agent", "tests"),
        ("x-forwarded-for", "192.0.2.1, 192.0.2.2"),
    ];
    let path = "/v1/data/a%20b";
    let body = json!({"input": 1});
    send_request(&environment, Method::POST, path, &headers, &body).await?;
    let sent = collector.span("the span", about("/v1/data/a b")).await?;
    assert_eq!(sent.ids().0, TRACE);
    assert_eq!(sent.parent(), PARENT);
    assert_eq!(sent.span.trace_state, "k=v");
    assert_eq!(sent.span.name, "POST /v1/data/{path...}");
    assert_eq!(sent.span.kind, SERVER);
    assert!(sent.span.start_time_unix_nano < sent.span.end_time_unix_nano);
    let port = environment.running.as_ref().and_then(|it| it.engine);
    let port = port.ok_or("no address")?.port();
    let peer = sent.attributes["network.peer.port"].as_u64();
    assert!(peer.is_some_and(|peer| peer != u64::from(port)), "{peer:?}");
    for (name, expected) in [
        ("http.request.method", json!("POST")),
        ("url.scheme", json!("http")),
        ("http.route", json!("/v1/data/{path...}")),
        ("server.address", json!("127.0.0.1")),
        ("server.port", json!(port)),
        ("network.protocol.version", json!("1.1")),
        ("network.peer.address", json!("127.0.0.1")),
        ("client.address", json!("192.0.2.1")),
        ("user_agent.original", json!("tests")),
        ("http.request.body.size", json!(11)),
        ("http.response.body.size", json!(3)),
        ("http.response.status_code", json!(200)),
    ] {
        assert_eq!(sent.attributes.get(name), Some(&expected), "{name}");
    }
    let resource = json!({
        "service.name": "engine",
        "service.version": "1.2",
        "service.instance.id": "i",
        "service.namespace": "n",
        "deployment.environment": "test",
    });
    assert_eq!(serde_json::to_value(&sent.resource)?, resource);
    Ok(())
}

#[tokio::test]
async fn spans_are_named_by_their_routes() -> Done {
    let (environment, collector) = traced(json!({}), json!({})).await?;
    put_policy(&environment).await?;
    let conflict = json!({"input": {"x": true}});
    let odd = Method::from_bytes(b"FOO")?;
    for (method, path, body, name, status) in [
        (Method::GET, "/v1/data", Value::Null, "GET /v1/data", 200),
        (
            Method::GET,
            "/v1/data/a/b",
            Value::Null,
            "GET /v1/data/{path...}",
            200,
        ),
        (
            Method::POST,
            "/v1/data/p/conflict",
            conflict,
            "POST /v1/data/{path...}",
            500,
        ),
        (
            Method::PUT,
            "/v1/data/q",
            json!(1),
            "PUT /v1/data/{path...}",
            204,
        ),
        (
            Method::DELETE,
            "/v1/data/none",
            Value::Null,
            "DELETE /v1/data/{path...}",
            404,
        ),
        (
            Method::GET,
            "/v1/policies/none",
            Value::Null,
            "GET /v1/policies/{path...}",
            404,
        ),
        (Method::GET, "/health", Value::Null, "GET /health", 200),
        (
            Method::GET,
            "/health/none",
            Value::Null,
            "GET /health/{path...}",
            500,
        ),
        (Method::GET, "/", Value::Null, "GET /{$}", 200),
        (
            Method::GET,
            "/v1/data/slash/",
            Value::Null,
            "GET /v1/data/{path...}",
            301,
        ),
        (
            odd,
            "/v1/data/odd",
            Value::Null,
            "HTTP /v1/data/{path...}",
            405,
        ),
        (
            Method::POST,
            "/v1/policies/post",
            Value::Null,
            "POST /v1/policies/{path...}",
            405,
        ),
    ] {
        let answered = send_request(&environment, method, path, &[], &body)
            .await?
            .0;
        assert_eq!(answered, status, "{path}");
        let sent = collector.span(name, about(path)).await?;
        assert_eq!(sent.span.name, name);
        let reported_status = &sent.attributes["http.response.status_code"];
        assert_eq!(reported_status, &json!(status), "{name}");
        assert_eq!(sent.failed(), status == 500, "{name}");
        assert_eq!(sent.parent(), "", "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn long_texts_are_cut() -> Done {
    let (environment, collector) = traced(json!({}), json!({})).await?;
    let long = "é".repeat(3000);
    let address = "a".repeat(5000);
    let headers = [("x-forwarded-for", address.as_str())];
    let path = format!("/v1/data/{long}");
    send_request(&environment, Method::GET, &path, &headers, &Value::Null).await?;
    let sent = collector.span("the span", |_| true).await?;
    // A value is truncated before the character that would exceed the limit.
    for (name, length) in [("url.path", 4095), ("client.address", 4096)] {
        let text = sent.attributes[name].as_str().map(str::len);
        assert_eq!(text, Some(length), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn some_requests_have_no_span() -> Done {
    let exclude = json!({"exclude_paths": ["/v1/data/a*", "/health"]});
    let (mut environment, collector) = traced(json!({}), exclude).await?;
    for path in [
        "/v1/data/a",
        "/v1/data/%61b",
        "/health",
        "/metrics",
        "/none",
        "/v1/data/a/b",
        "/health/live",
    ] {
        send_request(&environment, Method::GET, path, &[], &Value::Null).await?;
    }
    environment.stop().await;
    let spans = collector.spans()?;
    let paths: Vec<_> = spans
        .iter()
        .map(|sent| &sent.attributes["url.path"])
        .collect();
    // A star matches within one path segment.
    assert_eq!(paths, ["/v1/data/a/b", "/health/live"]);
    Ok(())
}

#[tokio::test]
async fn each_request_has_one_span_however_it_is_answered() -> Done {
    let (mut environment, collector) = traced(json!({}), json!({})).await?;
    // After some requests, the engine answers quick ones on the thread of their connection.
    for _ in 0..100 {
        environment.get("/v1/data/q/x").await?;
    }
    environment.stop().await;
    let spans = collector.spans()?;
    assert_eq!(spans.len(), 100);
    assert!(spans.iter().all(about("/v1/data/q/x")));
    Ok(())
}

#[tokio::test]
async fn only_what_is_sampled_is_sent() -> Done {
    let config = json!({"decision_logs": {"service": "depot", "reporting": quick()}});
    let sampling = json!({"sample_percentage": 0});
    let (mut environment, collector) = traced(config, sampling).await?;
    put_policy(&environment).await?;
    let url = format!("{}/asked", environment.url());
    let body = json!({"input": {"url": url}});
    let path = "/v1/data/p/sent";
    send_request(&environment, Method::POST, path, &[], &body).await?;
    let unsampled = environment.mock.seen("/asked").remove(0);
    let unsampled = unsampled.header("traceparent").unwrap_or_default();
    assert!(unsampled.ends_with("-00"), "{unsampled}");
    let (trace, _) = unsampled[3..].split_once('-').ok_or("no trace")?;
    let logged = || {
        let seen = environment.mock.seen("/logs");
        let uploads = seen.iter().filter_map(|upload| upload.body.as_array());
        let mut events = uploads.flatten();
        events.find(|event| event["trace_id"] == trace).cloned()
    };
    until("the event of a trace that is not sent", logged).await?;
    // The sampling flag of the client determines if the span is exported.
    for sampled in [false, true] {
        let parent = traceparent(sampled);
        let headers = [("traceparent", parent.as_str())];
        send_request(&environment, Method::GET, "/health", &headers, &Value::Null).await?;
    }
    environment.stop().await;
    let spans = collector.spans()?;
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert_eq!(spans[0].ids().0, TRACE);
    Ok(())
}

#[tokio::test]
async fn what_a_policy_asks_is_part_of_the_trace() -> Done {
    let (environment, collector) = traced(json!({}), json!({})).await?;
    put_policy(&environment).await?;
    environment.mock.put("/good", Fixture::default());
    let refused = "http://127.0.0.1:1/refused";
    let (good, missing) = ("/good", "/missing");
    let at = |path: &str| format!("{}{path}", environment.url());
    for (url, status, fails) in [
        (at(good), Some(200), false),
        (at(missing), Some(404), true),
        (refused.to_owned(), None, true),
    ] {
        let input = json!({"url": url.replace("http://", "http://user:password@")});
        post(&environment, "/v1/data/p/sent", input).await?;
        let full = json!(format!("{url}?secret"));
        let of_policy = |sent: &ReceivedSpan| sent.attributes.get("url.full") == Some(&full);
        let inner = collector.span(&url, of_policy).await?;
        let (trace, span) = inner.ids();
        let outer = |sent: &ReceivedSpan| sent.ids().1 == inner.parent();
        let outer = collector.span("the span of the request", outer).await?;
        assert_eq!(outer.ids().0, trace, "{url}");
        assert_eq!(inner.span.name, "HTTP GET", "{url}");
        assert_eq!(inner.span.kind, CLIENT, "{url}");
        let reported_status = inner.attributes.get("http.response.status_code");
        assert_eq!(
            reported_status,
            status.map(|status| json!(status)).as_ref(),
            "{url}"
        );
        assert_eq!(inner.failed(), fails, "{url}");
        assert!(!outer.failed(), "{url}");
        // `http.send` replaces a `traceparent` header that the policy sets.
        let path = url.strip_prefix(&environment.url()).unwrap_or_default();
        for seen in environment.mock.seen(path) {
            let expected = format!("00-{trace}-{span}-01");
            assert_eq!(seen.header("traceparent"), Some(expected.as_str()));
            assert_eq!(seen.header("tracestate"), None);
        }
    }
    assert_eq!(environment.mock.seen(good).len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_engine_asks_in_traces_of_its_own() -> Done {
    let mut environment = Environment::new().await?;
    let files = [
        (".manifest", r#"{"roots": ["a"]}"#),
        ("data.json", r#"{"a": 1}"#),
    ];
    let archive = Fixture::of(bundle(&files)?, "1");
    environment.mock.put("/bundles/rules", archive);
    let collector = Collector::start().await?;
    environment
        .engine(json!({
            "bundles": {"rules": {}},
            "decision_logs": {"service": "depot", "reporting": quick()},
            "distributed_tracing": sent_to(&collector, json!({})),
        }))
        .await?;
    environment.wait_for_data("a", json!(1)).await?;
    let (_, decided) = environment.get("/v1/data/a").await?;
    let logged = || {
        let seen = environment.mock.seen("/logs");
        seen.iter().find_map(|upload| {
            let mut events = upload.body.as_array()?.iter();
            let event = events.find(|event| event["decision_id"] == decided["decision_id"])?;
            Some((event.clone(), upload.clone()))
        })
    };
    let (event, upload) = until("the event", logged).await?;
    let id = &decided["decision_id"];
    let decision = |sent: &ReceivedSpan| sent.attributes.get("opa.decision_id") == Some(id);
    let decision = collector.span("the span of the decision", decision).await?;
    let (trace, span) = decision.ids();
    assert_eq!(
        (&event["trace_id"], &event["span_id"]),
        (&json!(trace), &json!(span))
    );

    let download = environment.mock.seen("/bundles/rules").remove(0);
    for (seen, name) in [(download, "HTTP GET"), (upload, "HTTP POST")] {
        let parent = seen.header("traceparent").unwrap_or_default().to_owned();
        let own = |sent: &ReceivedSpan| {
            let (trace, span) = sent.ids();
            parent == format!("00-{trace}-{span}-01")
        };
        let own = collector.span(&parent, own).await?;
        assert_eq!(own.span.name, name);
        assert_eq!(own.span.kind, CLIENT);
        assert_eq!(own.parent(), "", "{name}");
        let full = format!("{}{}", environment.url(), seen.path);
        assert_eq!(own.attributes["url.full"], full);
    }
    Ok(())
}
