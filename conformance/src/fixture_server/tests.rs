//! Tests of the fixture server over HTTP, as engines and scenarios use it.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};

use serde_json::json;

use super::*;
use crate::http_client::answer::Answer;
use crate::http_client::wire::Outgoing;
use crate::http_client::{Client, Connection};

/// Returns the contents of the file at `path` in a bundle.
fn file(archive: &[u8], path: &str) -> String {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let mut text = String::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        if entry.path().expect("a path").to_str() == Some(path) {
            entry.read_to_string(&mut text).expect("text");
        }
    }
    text
}

struct Visitor {
    client: Client,
    server: FixtureServer,
}

impl Visitor {
    async fn new() -> Self {
        Self {
            client: Client::new(&Connection::patient()).expect("a client"),
            server: FixtureServer::start(([127, 0, 0, 1], 0).into())
                .await
                .expect("a fixture server"),
        }
    }

    async fn send(
        &self,
        method: &'static str,
        path: &str,
        header: Option<(&str, &str)>,
        body: impl Into<Bytes>,
    ) -> Answer {
        let headers = header.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let request = Outgoing {
            method,
            path: path.to_owned(),
            headers: headers.into_iter().collect(),
            body: body.into(),
        };
        let answer = self.client.send(&self.server.base, &request).await;
        answer.expect("an answer")
    }

    async fn put_fixture(&self, item: Value) -> u16 {
        let answer = self.send("PUT", "/shelf/bundles/a.tar.gz", None, item.to_string());
        answer.await.status
    }

    async fn list(&self, path: &str) -> Value {
        let answer = self.send("GET", path, None, "").await;
        answer.json().cloned().unwrap_or_default()
    }
}

#[tokio::test]
async fn what_is_shelved_is_served() {
    let visitor = Visitor::new().await;
    let first = json!({"bundle": {".manifest": {"revision": "r1"}, "a/b.rego": "package a\n"}});
    let second = json!({"bundle": {".manifest": {"revision": "r2"}}});
    // Fixture to set first, ETag of the request, and the response's status and ETag.
    let cases = [
        (None, None, 404, None),
        (Some(first.clone()), None, 200, Some("\"1\"")),
        (Some(first.clone()), Some("\"1\""), 304, None),
        (Some(second), Some("\"1\""), 200, Some("\"2\"")),
        (Some(json!({"status": 503})), Some("\"2\""), 503, None),
        (
            Some(json!({"text": "no bundle"})),
            Some("\"2\""),
            200,
            Some("\"4\""),
        ),
        (Some(first), Some("\"1\""), 200, Some("\"5\"")),
    ];
    let mut served = Answer::default();
    for (item, known, status, tag) in cases {
        if let Some(item) = &item {
            assert_eq!(visitor.put_fixture(item.clone()).await, 204, "{item}");
        }
        let known = known.map(|tag| ("if-none-match", tag));
        served = visitor.send("GET", "/bundles/a.tar.gz", known, "").await;
        let found = (served.status, served.header("etag"));
        assert_eq!(found, (status, tag.map(str::to_owned)), "{item:?}");
    }
    assert_eq!(file(&served.body, ".manifest"), r#"{"revision":"r1"}"#);
    assert_eq!(file(&served.body, "a/b.rego"), "package a\n");
    let answers = [
        ("nothing", 404),
        ("bundle", 200),
        ("not-modified", 304),
        ("bundle", 200),
        ("status", 503),
        ("text", 200),
        ("bundle", 200),
    ];
    let expected: Vec<Value> = answers
        .iter()
        .map(|(answer, status)| json!({"answer": answer, "status": status}))
        .collect();
    assert_eq!(
        visitor.list("/taken/bundles/a.tar.gz").await,
        json!(expected)
    );
    assert_eq!(
        visitor
            .list("/taken/bundles/a.tar.gz?answer=status&status=503")
            .await,
        json!([{"answer": "status", "status": 503}])
    );
    assert_eq!(visitor.list("/taken/other").await, json!([]));
}

#[tokio::test]
async fn what_is_stored_is_served() {
    let visitor = Visitor::new().await;
    let bundle = |revision: &str| {
        let files = [(".manifest".to_owned(), json!({ "revision": revision }))];
        super::archive::build(&files.into()).expect("a bundle")
    };
    // Condition and body of a PUT, and the response's status and ETag.
    let cases = [
        (Some(("if-match", "*")), "r0", 412, None),
        (Some(("if-none-match", "*")), "r1", 200, Some("\"1\"")),
        (Some(("if-none-match", "*")), "r2", 412, None),
        (None, "r1", 200, Some("\"1\"")),
        (Some(("if-match", "\"1\"")), "r2", 200, Some("\"2\"")),
        (Some(("if-match", "\"1\"")), "r3", 412, None),
        (Some(("content-encoding", "aws-chunked")), "r4", 501, None),
    ];
    let path = "/bundles/a.tar.gz";
    for (condition, revision, status, tag) in cases {
        let answer = visitor.send("PUT", path, condition, bundle(revision)).await;
        let found = (answer.status, answer.header("etag"));
        assert_eq!(found, (status, tag.map(str::to_owned)), "{condition:?}");
    }
    for path in ["/bundles/b.tar.gz?uploadId=1&partNumber=1", "/alone"] {
        let answer = visitor.send("PUT", path, None, "x").await;
        assert_eq!(answer.status, 501, "{path}");
    }
    let known = visitor.send("HEAD", path, None, "").await;
    assert_eq!(
        (known.status, known.header("etag")),
        (200, Some("\"2\"".to_owned()))
    );
    assert_eq!(
        visitor.list("/opened/bundles/a.tar.gz").await,
        json!({".manifest": {"revision": "r2"}})
    );
    let taken = visitor
        .send("GET", path, Some(("if-none-match", "\"1\"")), "")
        .await;
    assert_eq!((taken.status, taken.body), (200, bundle("r2")));
    let answer = json!([{"answer": "bundle", "status": 200}]);
    assert_eq!(visitor.list("/taken/bundles/a.tar.gz").await, answer);
    assert_eq!(visitor.send("DELETE", path, None, "").await.status, 204);
    for (method, path) in [
        ("HEAD", path),
        ("GET", path),
        ("GET", "/opened/bundles/a.tar.gz"),
    ] {
        let answer = visitor.send(method, path, None, "").await;
        assert_eq!(answer.status, 404, "{method} {path}");
    }
    visitor.send("PUT", path, None, "no archive").await;
    let answer = visitor
        .send("GET", "/opened/bundles/a.tar.gz", None, "")
        .await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn what_is_guarded_needs_the_token() {
    let visitor = Visitor::new().await;
    let item = json!({"guarded": {"token": "t0ken", "text": "inside"}});
    assert_eq!(visitor.put_fixture(item).await, 204);
    // `who:t0ken`, `t0ken:` and `who:other` in base64.
    for (authorization, status) in [
        (None, 401),
        (Some("Bearer other"), 401),
        (Some("Bearer t0ken"), 200),
        (Some("bearer t0ken"), 200),
        (Some("Basic d2hvOnQwa2Vu"), 200),
        (Some("Basic dDBrZW46"), 200),
        (Some("Basic d2hvOm90aGVy"), 401),
        (Some("Basic t0ken"), 401),
    ] {
        let header = authorization.map(|value| ("authorization", value));
        let answer = visitor.send("GET", "/bundles/a.tar.gz", header, "").await;
        assert_eq!(answer.status, status, "{authorization:?}");
    }
}

/// Clones and fetches with the program `git`.
#[tokio::test]
async fn repositories_can_be_cloned() {
    let visitor = Visitor::new().await;
    let put_fixture = async |files: Value| {
        let body = json!({"repository": files}).to_string();
        let answer = visitor.send("PUT", "/shelf/git/rules", None, body).await;
        answer
            .at("/commit")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let long = "x".repeat(200_000);
    let files = json!({"a.rego": "package a\n", "b/c/data.json": {"most": 7}, "b.txt": long});
    let first = put_fixture(files.clone()).await.expect("a commit");
    assert_eq!(put_fixture(files).await.as_ref(), Some(&first));
    let second = put_fixture(json!({"a.rego": "package b\n"}))
        .await
        .expect("a commit");
    assert_ne!(first, second);
    let folder = tempfile::tempdir().expect("a folder");
    let clone = folder.path().join("clone");
    let git = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new("git");
        let output = command.current_dir(folder.path()).args(arguments).output();
        let output = output.await.expect("git");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let address = format!("{}/git/rules", visitor.server.base.url);
    git(&["clone", "--quiet", &address, "clone"]).await;
    let read = |path: &str| std::fs::read_to_string(clone.join(path)).unwrap_or_default();
    assert_eq!(
        (read("a.rego"), read("b.txt")),
        ("package b\n".to_owned(), String::new())
    );
    git(&["-C", "clone", "checkout", "--quiet", &first]).await;
    assert_eq!(
        (read("b/c/data.json"), read("b.txt")),
        (r#"{"most":7}"#.to_owned(), long)
    );
    git(&["-C", "clone", "fsck", "--strict"]).await;
    let third = put_fixture(json!({"a.rego": "package c\n"}))
        .await
        .expect("a commit");
    git(&["-C", "clone", "fetch", "--quiet"]).await;
    let fetched = git(&["-C", "clone", "rev-parse", "origin/main"]).await;
    assert_eq!(fetched.trim(), third);
    let taken = visitor.list("/taken/git/rules?answer=pack").await;
    assert_eq!(taken.as_array().map(Vec::is_empty), Some(false), "{taken}");
    for path in [
        "a/../b",
        "/a",
        "a//b",
        ".git/config",
        "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q",
    ] {
        assert_eq!(put_fixture(json!({path: "x"})).await, None, "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_shelved_is_refused() {
    let visitor = Visitor::new().await;
    for item in [
        json!({"bundel": {}}),
        json!({"status": 99}),
        json!({"bundle": {"../a": ""}}),
        json!("given"),
    ] {
        assert_eq!(visitor.put_fixture(item.clone()).await, 400, "{item}");
    }
    assert_eq!(
        visitor
            .send("GET", "/bundles/a.tar.gz", None, "")
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn what_is_held_back_is_answered_once_it_is_there() {
    let visitor = Visitor::new().await;
    assert_eq!(visitor.put_fixture(json!("held")).await, 204);
    let release = async {
        // The request has arrived once it is listed.
        while visitor.list("/taken/bundles/a.tar.gz").await == json!([]) {
            tokio::task::yield_now().await;
        }
        visitor.send("PUT", "/shelf/other", None, "\"held\"").await;
        visitor.put_fixture(json!({"text": "x"})).await
    };
    let (answer, released) =
        tokio::join!(visitor.send("GET", "/bundles/a.tar.gz", None, ""), release);
    assert_eq!(
        (answer.status, answer.text().as_ref(), released),
        (200, "x", 204)
    );
    assert_eq!(
        visitor.list("/taken/bundles/a.tar.gz").await,
        json!([{"answer": "held"}, {"answer": "text", "status": 200}])
    );
}

#[tokio::test]
async fn repeated_files_are_written_out() {
    let visitor = Visitor::new().await;
    let fixture = |times: u32| {
        json!({"repeated": {
            "times": times,
            "files": {"a.rego": "package a{number}", "b{number}.rego": "package b{number}"},
        }})
    };
    assert_eq!(visitor.put_fixture(fixture(2)).await, 204);
    assert_eq!(
        visitor.list("/opened/bundles/a.tar.gz").await,
        json!({
            "a.rego": "package a{number}",
            "b0.rego": "package b0",
            "b1.rego": "package b1",
        })
    );
    assert_eq!(visitor.put_fixture(fixture(20_001)).await, 400);
}

#[tokio::test]
async fn what_is_sent_is_kept() {
    let visitor = Visitor::new().await;
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory");
        encoder.finish().expect("memory")
    };
    let events = r#"[{"decision_id": "a/b", "n": 1}, {"decision_id": "c", "n": 2}]"#;
    let cases: [(&str, Option<&str>, Vec<u8>, u16); 7] = [
        ("/logs", Some("gzip"), gzip(events), 200),
        ("/logs/part", None, b"[{\"n\": 3}]".to_vec(), 200),
        ("/logs", Some("gzip"), events.into(), 400),
        ("/logs", None, b"{".to_vec(), 400),
        ("/logs", Some("br"), b"[]".to_vec(), 400),
        ("/status", None, br#"{"labels": {}}"#.to_vec(), 200),
        ("/elsewhere", None, b"[]".to_vec(), 404),
    ];
    for (path, encoding, body, status) in cases {
        let header = encoding.map(|coding| ("content-encoding", coding));
        let answer = visitor.send("POST", path, header, body).await;
        assert_eq!(
            answer.status,
            status,
            "{path} {encoding:?}: {}",
            answer.text()
        );
    }
    for (path, expected) in [
        (
            "/received/logs?decision_id=a%2Fb",
            json!([{"decision_id": "a/b", "n": 1}]),
        ),
        (
            "/received/logs?holds=a%2Fb",
            json!([{"decision_id": "a/b", "n": 1}]),
        ),
        ("/received/logs?holds=a", json!([])),
        ("/received/logs?n=3", json!([{"n": 3}])),
        ("/received/logs?n=4", json!([])),
        ("/received/status", json!([{"labels": {}}])),
    ] {
        assert_eq!(visitor.list(path).await, expected, "{path}");
    }
    assert_eq!(
        visitor
            .send("GET", "/received/other", None, "")
            .await
            .status,
        404
    );
}
