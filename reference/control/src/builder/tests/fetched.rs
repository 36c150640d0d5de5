//! Documents from servers that the tests start.

use std::error::Error;

use test_server::{Request, Response, TestServer, header, respond};
use tokio::net::TcpListener;

use super::{TestFolders, dedent};

/// Responds depending on the path.
async fn answer(request: Request) -> Response {
    let host = header(&request, "host");
    let (status, location, text) = match request.uri().path() {
        "/list" => (
            200,
            "",
            r#"[{"id":"a","n":1.50},{"id":"b","n":2}]"#.to_owned(),
        ),
        "/near" => (302, "/list", String::new()),
        "/far" => (302, "http://localhost:1/list", String::new()),
        "/circle" => (302, "/circle", String::new()),
        "/text" => (200, "", "not JSON".to_owned()),
        "/long" => (200, "", format!("\"{}\"", "x".repeat(2000))),
        "/token" => (200, "", r#"{"access_token":"T"}"#.to_owned()),
        "/.well-known/openid-configuration" => (
            200,
            "",
            format!(r#"{{"token_endpoint":"http://{host}/token"}}"#),
        ),
        "/bucket/key" => (200, "", r#"{"s3":true}"#.to_owned()),
        "/bucket/moved" => (302, "/bucket/key", String::new()),
        _ => (500, "", "hush-hush".to_owned()),
    };
    let headers = [
        ("etag", "\"e\""),
        ("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("location", location),
    ];
    let headers = if status == 302 {
        &headers[..]
    } else {
        &headers[..2]
    };
    respond(status, headers, text)
}

/// Lists the requests of a server: method, path with query, the headers under test, body.
fn request_lines(server: &TestServer) -> Vec<String> {
    let requests = server.requests().into_iter().map(|request| {
        let mut line = format!("{} {}", request.method(), request.uri());
        for name in ["authorization", "x-key", "x-more", "content-type"] {
            if request.headers().contains_key(name) {
                line += &format!(" {name}={}", header(&request, name));
            }
        }
        format!("{line} {}", String::from_utf8_lossy(request.body()))
    });
    requests.collect()
}

fn job(datasource: &str, secret: &str, policy: &str, address: &str) -> String {
    let text = format!(
        "{{bundle: {{requirements: [{{source: a}}]}}, \
          sources: {{a: {{directory: ROOT/a, datasources: [{{name: d, path: d, {datasource}}}]}}}}, \
          secrets: {{s: {{{secret}}}}}, files: {{a/a.rego: '{policy}'}}}}"
    );
    text.replace("ADDRESS", address)
}

#[tokio::test]
async fn requests_carry_what_was_asked_for() -> Result<(), Box<dyn Error>> {
    let server = TestServer::start(answer).await?;
    let address = server.url();
    let s3 = "type: s3, config: {bucket: bucket, key: key, endpoint: ADDRESS}";
    for (datasource, secret, expected) in [
        (
            "type: http, config: {url: ADDRESS/list}",
            "",
            vec!["GET /list "],
        ),
        (
            "type: http, config: {url: 'ADDRESS/list?x=1', method: POST, body: hello, headers: {X-More: m}}",
            "",
            vec!["POST /list?x=1 x-more=m hello"],
        ),
        (
            "type: http, config: {url: ADDRESS/near}",
            "",
            vec!["GET /near ", "GET /list "],
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: basic_auth, username: ann, password: pass, headers: ['X-More: m']",
            vec!["GET /list authorization=Basic YW5uOnBhc3M= x-more=m "],
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: token_auth, token: t",
            vec!["GET /list authorization=Bearer t "],
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: api_key, key: X-Key, value: v",
            vec!["GET /list x-key=v "],
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: api_key, key: k, value: 'v w', in: query",
            vec!["GET /list?k=v+w "],
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: oidc_client_credentials, issuer: ADDRESS/, client_id: i, client_secret: 's:x', scopes: [a, b]",
            vec![
                "GET /.well-known/openid-configuration ",
                "POST /token authorization=Basic aTpzJTNBeA== content-type=application/x-www-form-urlencoded grant_type=client_credentials&scope=a%20b",
                "GET /list authorization=Bearer T ",
            ],
        ),
        (s3, "", vec!["GET /bucket/key "]),
    ] {
        let fixture = TestFolders::new()?;
        let text = job(datasource, secret, "package p", &address)
            .replace("issuer: ADDRESS", &format!("issuer: {address}"));
        let job = fixture.job(&text)?;
        let before = server.requests().len();
        fixture.build(&job).await?;
        let found = request_lines(&server).split_off(before);
        assert_eq!(found, expected, "{datasource} {secret}");
    }
    let fixture = TestFolders::new()?;
    let secret = "type: aws_auth, access_key_id: AKID, secret_access_key: key-of-tests";
    let text = job(
        &format!("credentials: s, {s3}"),
        secret,
        "package p",
        &address,
    );
    let built = fixture.build(&fixture.job(&text)?).await?;
    assert!(super::listing(&built)?.contains(r#"{"d":{"s3":true}}"#));
    let found = request_lines(&server).concat();
    assert!(
        found.contains("authorization=AWS4-HMAC-SHA256 Credential=AKID/"),
        "{found}"
    );
    Ok(())
}

#[tokio::test]
async fn documents_are_transformed() -> Result<(), Box<dyn Error>> {
    const POLICY: &str = r#"package p\nby_id[x.id] := x.n if some x in input\nnet := http.send({"method":"get","url":"ADDRESS/list"}).body\nenv := opa.runtime()\nloop := count([1 | numbers.range(1, 3000)[_]; numbers.range(1, 3000)[_]; numbers.range(1, 3000)[_]])"#;
    let server = TestServer::start(answer).await?;
    let address = server.url();
    for (query, expected) in [
        ("", r#"[{"id":"a","n":1.50},{"id":"b","n":2}]"#),
        ("data.p.by_id", r#"{"a":1.50,"b":2}"#),
        ("{x.id | some x in input}", r#"["a","b"]"#),
        ("input[_].n", "[1.50,2]"),
        ("input[0].n", "1.50"),
        ("input.nothing", "[]"),
        ("data.p.env", "{}"),
        ("data.p.net", "[]"),
        ("data.pushed.x", "7"),
    ] {
        let fixture = TestFolders::new()?;
        let data = format!("type: http, config: {{url: ADDRESS/list}}, transform_query: '{query}'");
        let policy = POLICY.replace("\\n", "\n\n");
        let mut job = fixture.job(&job(&data, "", &policy, &address))?;
        if let Some(source) = job.sources.get_mut("a") {
            let pushed = ("pushed/data.json".to_owned(), r#"{"x":7}"#.to_owned());
            source.documents.push(pushed);
        }
        let found = super::listing(&fixture.build(&job).await?)?;
        let head = format!(r#"/data.json {{"d":{expected},"pushed":{{"x":7}}}}"#);
        assert_eq!(found.lines().next(), Some(head.as_str()), "{query}");
    }
    assert_eq!(server.requests().len(), 9, "policies reach no network");
    for (query, expected) in [
        ("data.p[", "1:"),
        ("x := 1; y := 2", "the query must be one expression"),
        ("data.p.loop", "not done within"),
        ("[data.p.loop]", "all evaluations of a build together may"),
        ("f(1)", "rego_type_error: undefined function f"),
    ] {
        let mut fixture = TestFolders::new()?;
        if query == "data.p.loop" {
            fixture.access.limits.work = std::time::Duration::from_millis(500);
            fixture.access.limits.evaluations = super::EvaluationBounds {
                time: None,
                memory: None,
            };
        }
        let data = format!("type: http, config: {{url: ADDRESS/list}}, transform_query: '{query}'");
        let policy = POLICY.replace("\\n", "\n\n");
        let found = fixture.listing(&job(&data, "", &policy, &address)).await?;
        let is_expected = found.starts_with("TRANSFORM TRANSFORM_FAILED: source `a`: ")
            && found.contains(expected);
        assert!(is_expected, "{query}: {found}");
    }
    Ok(())
}

/// Modules have the version that the manifest of their source declares.
#[tokio::test]
async fn old_modules_transform_documents() -> Result<(), Box<dyn Error>> {
    let server = TestServer::start(answer).await?;
    let address = server.url();
    let data = "type: http, config: {url: ADDRESS/list}, transform_query: data.p.ids";
    let fixture = TestFolders::new()?;
    let policy = "package p\n\nids[x] { x := input[_].id }";
    let job = fixture.job(&job(data, "", policy, &address))?;
    let root = fixture.root().join("a/.manifest");
    for (manifest, expected) in [
        (r#"{"rego_version":0}"#, r#"/data.json {"d":["a","b"]}"#),
        (r#"{"rego_version":1}"#, "TRANSFORM_FAILED: source `a`: "),
    ] {
        std::fs::write(&root, manifest)?;
        let found = match fixture.build(&job).await {
            Ok(built) => super::listing(&built)?,
            Err(failure) => failure.to_string(),
        };
        assert!(found.starts_with(expected), "{found}");
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_fetched_fails_the_build() -> Result<(), Box<dyn Error>> {
    let server = TestServer::start(answer).await?;
    let address = server.url();
    for (datasource, secret, expected) in [
        (
            "type: http, config: {url: ADDRESS/none}",
            "",
            "the server answered 500",
        ),
        (
            "type: http, config: {url: ADDRESS/far}",
            "",
            "a redirection to another host",
        ),
        (
            "type: http, config: {url: ADDRESS/circle}",
            "",
            "too many redirections",
        ),
        (
            "type: http, config: {url: ADDRESS/text}",
            "",
            "invalid JSON at line 1",
        ),
        (
            "type: http, config: {url: ADDRESS/long}",
            "",
            "more than 1000 bytes",
        ),
        (
            "type: http, config: {url: 'http://127.0.0.1:1/?key=hush-hush'}",
            "",
            "onnect",
        ),
        (
            "type: http, config: {url: ADDRESS/list, method: 'a b'}",
            "",
            "invalid config.method",
        ),
        (
            "type: http, config: {url: ADDRESS/list, headers: {'a b': c}}",
            "",
            "invalid header `a b`",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: token_auth, token: \"hush-hush\\n\"",
            "",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: oidc_client_credentials, token_endpoint: 'http://other.example', client_id: i, client_secret: hush-hush",
            "host `other.example` is not among the allowed hosts",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: oidc_client_credentials, token_endpoint: ADDRESS/list, client_id: i, client_secret: hush-hush",
            "the answer about tokens",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: aws_auth, access_key_id: i, secret_access_key: hush-hush",
            "credentials of type aws_auth cannot be used for HTTP",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: token_auth, tokens: hush-hush",
            "invalid secret `s`",
        ),
        (
            "type: s3, credentials: s, config: {bucket: bucket, key: none, endpoint: ADDRESS}",
            "type: aws_auth, access_key_id: i, secret_access_key: hush-hush",
            "",
        ),
        (
            "type: s3, credentials: s, config: {bucket: bucket, key: moved, endpoint: ADDRESS}",
            "type: aws_auth, access_key_id: i, secret_access_key: k, session_token: hush-hush",
            "302 Found",
        ),
        (
            "type: s3, config: {bucket: .., key: k, endpoint: ADDRESS}",
            "",
            "invalid config.bucket",
        ),
        (
            "type: s3, config: {bucket: b, key: k, region: 'x@evil.example/', endpoint: ADDRESS}",
            "",
            "invalid config.region",
        ),
        (
            "type: s3, config: {bucket: b, key: k, endpoint: 'ADDRESS/?x='}",
            "",
            "config.endpoint must have no query",
        ),
        (
            "type: s3, config: {bucket: b, key: k, endpoint: 'file:///etc'}",
            "",
            "config.endpoint must begin with http",
        ),
        (
            "type: http, config: {url: 'http://ann:hush-hush@127.0.0.1/'}",
            "",
            "config.url must hold neither user nor password",
        ),
        (
            "type: http, config: {url: 'http://127.0.0.1@evil.example/'}",
            "",
            "config.url must hold neither user nor password",
        ),
        (
            "type: http, config: {url: ADDRESS/list, headers: {Host: elsewhere.example}}",
            "",
            "header `host` cannot be set",
        ),
        (
            "type: http, config: {url: ADDRESS/list, body: x, headers: {Transfer-Encoding: chunked}}",
            "",
            "header `transfer-encoding` cannot be set",
        ),
        (
            "type: http, config: {url: ADDRESS/list, body: x, headers: {content-length: '0'}}",
            "",
            "header `content-length` cannot be set",
        ),
        (
            "type: http, config: {url: ADDRESS/list, headers: {Connection: x-key}}",
            "",
            "header `connection` cannot be set",
        ),
        (
            "type: http, config: {url: ADDRESS/list, headers: {Expect: 100-continue}}",
            "",
            "header `expect` cannot be set",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: api_key, key: HOST, value: hush-hush",
            "header `host` cannot be set",
        ),
        (
            "type: http, credentials: s, config: {url: ADDRESS/list}",
            "type: basic_auth, username: a, password: hush-hush, headers: ['Host: hush-hush']",
            "header `host` cannot be set",
        ),
    ] {
        let mut fixture = TestFolders::new()?;
        fixture.access.limits.file = 1000;
        let found = fixture
            .listing(&job(datasource, secret, "package p", &address))
            .await?;
        let is_expected =
            found.starts_with("SYNC ") && found.contains(expected) && !found.contains("hush-hush");
        assert!(is_expected, "{datasource} {secret}: {found}");
    }
    Ok(())
}

#[tokio::test]
async fn datasources_share_no_place() -> Result<(), Box<dyn Error>> {
    let server = TestServer::start(answer).await?;
    let address = server.url();
    let one = format!("{{path: d, type: http, config: {{url: {address}/list}}}}");
    let two = format!("{{path: d/, type: http, config: {{url: {address}/list}}}}");
    for (both, expected) in [
        (
            one.clone(),
            "\n        /data.json {\"d\":[{\"id\":\"a\",\"n\":1.50},{\"id\":\"b\",\"n\":2}]}\n        /.manifest {\"rego_version\":1,\"revision\":\"REV\",\"roots\":[\"d\"]}",
        ),
        (
            format!("{one}, {two}"),
            "\n        SYNC CONFIG_ERROR: source `a`: two datasources are placed at `d/data.json`",
        ),
    ] {
        let fixture = TestFolders::new()?;
        let job = format!(
            "{{bundle: {{requirements: [{{source: a}}]}}, sources: {{a: {{datasources: [{both}]}}}}}}"
        );
        let found = fixture.listing(&job).await?;
        assert_eq!(found.trim_end(), dedent(expected).trim_end());
    }
    Ok(())
}

#[tokio::test]
async fn storages_send_nobody_elsewhere() -> Result<(), Box<dyn Error>> {
    let server = TestServer::start(answer).await?;
    let address = server.url();
    let fixture = TestFolders::new()?;
    let datasource =
        "type: s3, credentials: s, config: {bucket: bucket, key: moved, endpoint: ADDRESS}";
    let secret = "type: aws_auth, access_key_id: i, secret_access_key: k, session_token: t";
    let job = job(datasource, secret, "package p", &address);
    let found = fixture.listing(&job).await?;
    assert!(found.starts_with("SYNC SYNC_FAILED"), "{found}");
    let lines = request_lines(&server);
    let strayed = lines.iter().any(|line| line.contains("/bucket/key"));
    assert!(!strayed && !lines.is_empty(), "{lines:?}");
    Ok(())
}

/// Serves a body longer than announced.
async fn understating(listener: TcpListener) -> std::io::Result<()> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    loop {
        let (mut stream, _) = listener.accept().await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let text = format!("\"{}\"", "x".repeat(5000));
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\netag: \"e\"\r\n\
             last-modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n",
            text.len()
        );
        // Disconnecting clients do not fail the tests.
        drop(stream.write_all(answer.as_bytes()).await);
    }
}

#[tokio::test]
async fn objects_are_counted_as_they_come() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    tokio::spawn(understating(listener));
    let mut fixture = TestFolders::new()?;
    fixture.access.limits.file = 1000;
    let s3 = "type: s3, config: {bucket: bucket, key: key, endpoint: ADDRESS}";
    let found = fixture.listing(&job(s3, "", "package p", &address)).await?;
    let counted = "the object has more than 1000 bytes";
    assert!(found.contains(counted), "{found}");
    Ok(())
}
