//! Tests of `conformance mock`, which use it like the tests of a client: start, HTTP, stop.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{HANG_LIMIT, Program, signal, wait};

pub(crate) mod running;

use running::Mock;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_mock_records_what_it_is_asked", records),
    ("a_mock_decides_by_what_it_starts_with", decides),
    ("a_mock_serves_a_control_plane", serves_control),
    ("a_mock_breaks_answers_on_demand", breaks_answers),
    ("a_mock_breaks_connections_on_demand", breaks_connections),
    ("a_mock_goes_back_to_its_start", goes_back),
    ("a_mock_keeps_what_fits", keeps_what_fits),
    ("a_mock_says_what_is_wrong", says_what_is_wrong),
    ("a_mock_ends_when_it_is_asked_to", ends),
];

/// Time for which a test waits to prove that no response arrives.
const HUNG: Duration = Duration::from_millis(300);

fn records() {
    let mock = Mock::start(&["policy.rego", "data.json"]);
    let headers = "X-One: 1\r\nx-one: 2\r\nContent-Type: application/json\r\n";
    let answer = mock.send_with_headers(
        "engine",
        "PUT /v1/data/a%2Fb/c?x=%20&pretty",
        headers,
        b"{\"n\": 1.50}",
    );
    assert_eq!(answer.status, 204, "{answer:?}");
    assert_eq!(mock.send("GET /nothing/here", "").status, 404);
    assert_eq!(
        mock.send_with_headers("engine", "POST /v1/data", "", b"\xff\xfe")
            .status,
        400
    );
    let all = mock.requests("");
    let [put, get, post] = all.as_slice() else {
        panic!("{all:?}")
    };
    let at = |one: &Value, pointer: &str| one.pointer(pointer).cloned().unwrap_or_default();
    for (pointer, expected) in [
        ("/number", json!(1)),
        ("/api", json!("engine")),
        ("/method", json!("PUT")),
        ("/path", json!("/v1/data/a%2Fb/c")),
        ("/query", json!("x=%20&pretty")),
        ("/headers/x-one", json!("1, 2")),
        ("/headers/content-type", json!("application/json")),
        ("/headers/host", json!(mock.address("engine"))),
        ("/body", json!("{\"n\": 1.50}")),
        ("/body_length", json!(11)),
        (
            "/json",
            serde_json::from_str("{\"n\": 1.50}").expect("JSON"),
        ),
        ("/status", json!(204)),
        ("/faults", json!([])),
    ] {
        assert_eq!(at(put, pointer), expected, "{pointer} of {put}");
    }
    assert_eq!(at(get, "/status"), 404);
    assert_eq!(at(post, "/body_base64"), "//4=");
    for (query, numbers) in [
        ("?method=PUT", &[1][..]),
        ("?after=1", &[2, 3]),
        ("?path=/v1/data", &[3]),
        ("?path=/v1/data/a%252Fb/c&api=engine", &[1]),
        ("?api=control", &[]),
    ] {
        let found = mock.requests(query);
        let found: Vec<Value> = found.iter().map(|one| at(one, "/number")).collect();
        assert_eq!(found, numbers, "{query}");
    }
    mock.switch("DELETE /requests", "");
    assert!(mock.requests("").is_empty());
}

fn decides() {
    let mock = Mock::start(&["policy.rego", "data.json"]);
    assert_eq!(mock.decide("ann", "").json(), json!({"result": true}));
    assert_eq!(mock.decide("bob", "").json(), json!({}));
    let mock = Mock::start(&[
        "x.y:data.json",
        "--engine-arg=--set=default_decision=/x/y/admins",
    ]);
    assert_eq!(
        mock.send("GET /v1/data/x/y/admins", "").json(),
        json!({"result": ["ann"]})
    );
    assert_eq!(mock.send("POST /", "").json(), json!(["ann"]));
    // The mock passes on responses that only the engine can produce.
    let head = mock.send("HEAD /health", "");
    assert!(
        (200..500).contains(&head.status) && head.body.is_empty(),
        "{head:?}"
    );
    let unknown = mock.send("PURGE /v1/data", "");
    assert_eq!(unknown.status, 405, "{unknown:?}");
    let packed =
        mock.send_with_headers("engine", "GET /v1/config", "Accept-Encoding: gzip\r\n", b"");
    assert_eq!(packed.status, 200, "{packed:?}");
}

fn serves_control() {
    let mock = Mock::start(&[
        "--control",
        "--control-token=secret",
        "--faults=faults.yaml",
    ]);
    assert_eq!(mock.ready.get("control_token"), Some(&json!("secret")));
    let token = "Authorization: Bearer secret\r\n";
    let send = |line: &str, headers: &str, body: &str| {
        mock.send_with_headers("control", line, headers, body.as_bytes())
    };
    assert_eq!(send("GET /v1/sources", "", "").status, 401);
    let put = send("PUT /v1/sources/s", token, "{}");
    assert_eq!(put.status, 200, "{put:?}");
    let sources = |headers: &str| {
        let answer = send("GET /v1/sources", headers, "").json();
        answer.get("result").and_then(Value::as_array).map(Vec::len)
    };
    assert_eq!(sources(token), Some(1));
    let broken = format!("{token}Conformance-Fault: no-sources\r\n");
    assert_eq!(sources(&broken), Some(0));
    let requests = mock.requests("?api=control");
    assert_eq!(requests.len(), 4, "{requests:?}");
    assert!(mock.requests("?api=engine").is_empty());
    mock.switch("POST /reset", "");
    assert_eq!(sources(token), Some(0));
}

fn breaks_answers() {
    let mock = Mock::start(&["policy.rego", "data.json", "--faults", "faults.yaml"]);
    let cases: &[(&str, u16, &str, Value)] = &[
        (
            "internal-error",
            500,
            "",
            json!({"code": "internal_error", "message": "error on purpose"}),
        ),
        (
            "unavailable",
            503,
            "retry-after: 1",
            json!({"code": "unavailable", "message": "error on purpose"}),
        ),
        (
            "too-many-requests",
            429,
            "retry-after: 1",
            json!({"code": "too_many_requests", "message": "error on purpose"}),
        ),
        (
            "unauthorized",
            401,
            "",
            json!({"code": "unauthorized", "message": "request rejected by administrative policy"}),
        ),
        (
            "wrong-content-type",
            200,
            "content-type: text/plain",
            json!({"result": true}),
        ),
        (
            "wrong-type",
            200,
            "application/json",
            json!({"result": "true"}),
        ),
        ("null", 200, "application/json", json!({"result": null})),
        ("undefined", 200, "application/json", json!({})),
        (
            "warning",
            200,
            "application/json",
            json!({"result": true, "warning": {"code": "api_usage_warning", "message": "'input' key missing from the request"}}),
        ),
        (
            "undefined, internal-error",
            500,
            "",
            json!({"code": "internal_error", "message": "error on purpose"}),
        ),
        (
            "{\"answer\": [{\"status\": 201}, {\"set\": {\"/x\": 1}}]}",
            201,
            "",
            json!({"result": true, "x": 1}),
        ),
    ];
    for (fault, status, head, body) in cases {
        let broken = mock.decide("ann", &format!("Conformance-Fault: {fault}\r\n"));
        assert_eq!((broken.status, &broken.json()), (*status, body), "{fault}");
        assert!(broken.head.contains(head), "{fault}: {broken:?}");
        // The fault affects only the request that names it.
        assert_eq!(
            mock.decide("ann", "").json(),
            json!({"result": true}),
            "{fault}"
        );
    }
    for (fault, body) in [
        ("empty-body", ""),
        ("broken-json", "{\"result\": {\"allow\": tr"),
        ("teapot", "short and stout"),
    ] {
        let broken = mock.decide("ann", &format!("Conformance-Fault: {fault}\r\n"));
        assert_eq!(broken.body, body, "{fault}");
    }
    let page = mock.decide("ann", "Conformance-Fault: html-page\r\n");
    assert!(page.head.contains("content-type: text/html"), "{page:?}");
    let line = "POST /v0/data/authz/allow";
    let undefined = "Conformance-Fault: undefined-document\r\n";
    assert_eq!(
        mock.send_with_headers("engine", line, undefined, b"")
            .status,
        404
    );
    // The engine evaluates `If-None-Match`, but not with the fault `expired-etag`.
    let status_with = |headers: &str| {
        let headers = format!("If-None-Match: *\r\n{headers}");
        mock.send_with_headers("engine", "PUT /v1/data/admins", &headers, b"[]")
            .status
    };
    assert_eq!(status_with(""), 304);
    assert_eq!(status_with("Conformance-Fault: expired-etag\r\n"), 204);
    // A fault of the suite, named by its path.
    let suite = "Conformance-Fault: engine/v1/data/put/create-is-200\r\n";
    assert_eq!(
        mock.send_with_headers("engine", "PUT /v1/data/new", suite, b"{\"a\": 1}")
            .status,
        200
    );
    assert_eq!(
        mock.send_with_headers("engine", "PUT /v1/data/newer", "", b"1")
            .status,
        204
    );

    // Faults can be enabled for all requests, until they are used up or disabled.
    let decide = || mock.decide("ann", "").status;
    mock.switch("PUT /faults/teapot?times=2", "");
    assert_eq!([decide(), decide(), decide()], [418, 418, 200]);
    mock.switch(
        "PUT /faults/mine",
        "{on: POST /v1/data/**, reply: {status: 507}}",
    );
    mock.switch(
        "POST /faults",
        "[{fault: other, on: GET /health, reply: {status: 599}}]",
    );
    assert_eq!(decide(), 507);
    assert_eq!(mock.send("GET /health", "").status, 599);
    let listed = mock.admin("GET /faults", "").json();
    let names = listed.get("on").and_then(Value::as_array).map(|on| {
        let names = on.iter().filter_map(|one| one.get("fault")?.as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(
        names,
        Some(["teapot", "mine", "other"].map(str::to_owned).to_vec())
    );
    mock.switch("DELETE /faults/mine", "");
    assert_eq!(decide(), 200);
    mock.switch("DELETE /faults", "");
    assert_eq!(mock.send("GET /health", "").status, 200);
    let touched = mock.requests("").into_iter().filter_map(|one| {
        let faults = one.get("faults")?.as_array()?.clone();
        (faults == [json!("mine")]).then(|| one.get("status").cloned())?
    });
    assert_eq!(touched.collect::<Vec<_>>(), [json!(507)]);
}

fn breaks_connections() {
    let mock = Mock::start(&["policy.rego", "data.json"]);
    let open = |fault: &str| {
        let headers = format!("Conformance-Fault: {fault}\r\n");
        mock.open("engine", "GET /v1/data/admins", &headers, b"")
    };
    let read = |mut stream: TcpStream| {
        let mut bytes = Vec::new();
        // A reset of the connection is also acceptable.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    assert_eq!(read(open("close")), "");
    let cut = read(open("cut-body"));
    let (head, body) = cut.split_once("\r\n\r\n").expect("a head");
    let length = "{\"result\":[\"ann\"]}\n".len();
    assert!(
        head.to_ascii_lowercase()
            .contains(&format!("content-length: {length}")),
        "{cut}"
    );
    assert_eq!(body, "{\"result\":");
    let shorter = read(open(
        "{\"cut\": 1000, \"reply\": {\"status\": 200, \"body\": \"ab\"}}",
    ));
    assert!(shorter.ends_with("\r\n\r\na"), "{shorter}");

    // A request that hangs gets no response; others do.
    let mut hung = open("hang");
    hung.set_read_timeout(Some(HUNG)).expect("a time limit");
    let waited = hung.read(&mut [0]).expect_err("no answer");
    assert!(
        matches!(waited.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "{waited}"
    );
    assert_eq!(mock.decide("ann", "").status, 200);
    let requests = mock.requests("?path=/v1/data/admins");
    let last = requests.last().expect("the hanging one");
    assert_eq!(last.get("status"), Some(&Value::Null));
    assert_eq!(last.get("faults"), Some(&json!(["hang"])));
    hung.set_read_timeout(Some(HANG_LIMIT))
        .expect("a time limit");
    mock.switch("POST /reset", "");
    assert_eq!(read(hung), "");

    // A delayed request gets the normal response.
    let slow = open("{\"delay\": 400}");
    assert!(read(slow).ends_with("{\"result\":[\"ann\"]}\n"));
}

fn goes_back() {
    let mock = Mock::start(&["policy.rego", "data.json", "--fault", "warning"]);
    let started = json!({"result": ["ann"], "warning": {"code": "api_usage_warning", "message": "'input' key missing from the request"}});
    let admins = || mock.send("GET /v1/data/admins", "").json();
    assert_eq!(admins(), started);
    assert_eq!(mock.send("PUT /v1/data/admins", "[\"bob\"]").status, 204);
    let policy = "PUT /v1/policies/authz";
    assert_eq!(
        mock.send(policy, "package authz2\n\nallow := 1").status,
        200
    );
    assert_eq!(mock.send("DELETE /v1/policies/policy.rego", "").status, 200);
    mock.switch("DELETE /faults", "");
    mock.switch("PUT /faults/undefined", "");
    assert_eq!(admins(), json!({}));
    assert_eq!(mock.requests("").len(), 5);
    mock.switch("POST /reset", "");
    assert!(mock.requests("").is_empty());
    assert_eq!(admins(), started);
    let ids = mock.send("GET /v1/policies", "").json();
    let ids = ids
        .pointer("/result")
        .and_then(Value::as_array)
        .map(Vec::len);
    assert_eq!(ids, Some(1));
    assert_eq!(mock.requests("").len(), 2);
}

fn keeps_what_fits() {
    let mock = Mock::start(&["--max-recorded=2", "--max-recorded-body=4"]);
    for body in ["1", "[1,2,3]", "\"last\""] {
        assert_eq!(mock.send("PUT /v1/data/a", body).status, 204, "{body}");
    }
    let recorded = mock.admin("GET /requests", "").json();
    assert_eq!(recorded.pointer("/dropped"), Some(&json!(1)));
    let bodies = ["/requests/0/body", "/requests/1/body"].map(|pointer| recorded.pointer(pointer));
    assert_eq!(bodies, [Some(&json!("[1,2")), Some(&json!("\"las"))]);
    assert_eq!(recorded.pointer("/requests/0/body_length"), Some(&json!(7)));
    // The mock records only the beginning of a long body; the engine received all of it.
    assert_eq!(recorded.pointer("/requests/0/json"), None);
    assert_eq!(
        mock.send("GET /v1/data/a", "").json(),
        json!({"result": "last"})
    );
    let address = mock.address("engine");
    let mut stream = TcpStream::connect(address).expect("a connection");
    let length = 65 * 1024 * 1024;
    write!(
        stream,
        "PUT /v1/data/a HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"
    )
    .expect("the head is taken");
    let mut line = String::new();
    let mut reader = BufReader::new(stream);
    reader
        .read_line(&mut line)
        .expect("an answer before the body");
    assert!(line.contains(" 413 "), "{line}");
}

fn says_what_is_wrong() {
    let program = Program::new()
        .file("bad.rego", "package a\n\nallow if {")
        .file("bad.yaml", "- {fault: x, hangs: true}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("its address").port().to_string();
    for (arguments, reason) in [
        (&["nowhere.rego"][..], "nowhere.rego"),
        (&["bad.rego"], "bad.rego"),
        (&["--bundle", "nowhere.tar.gz"], "nowhere.tar.gz"),
        (&["--faults", "nowhere.yaml"], "nowhere.yaml"),
        (
            &["--faults", "bad.yaml"],
            "bad.yaml: x: unknown field `hangs`",
        ),
        (
            &["--fault", "hagn"],
            "no fault is named `hagn`; did you mean `hang`?",
        ),
        (&["--port", &port], "cannot listen on 127.0.0.1:"),
        (&["--control-port", "0"], "--control"),
        (&["--engine-arg=--nonsense"], "--nonsense"),
        (&["--host", "localhost"], "invalid IP address"),
    ] {
        let result = program.run(&[&["mock"], arguments].concat());
        result.expect(2, &[reason]);
        assert_eq!(result.out, "", "{arguments:?}");
    }

    let mock = Mock::start(&[]);
    for (line, body, status, reason) in [
        ("GET /request", "", 404, "there is nothing at /request"),
        (
            "POST /requests",
            "",
            405,
            "/requests is not asked with this method",
        ),
        (
            "GET /reset",
            "",
            405,
            "/reset is not asked with this method",
        ),
        (
            "GET /requests?mehtod=PUT",
            "",
            400,
            "there is no parameter `mehtod` here",
        ),
        (
            "GET /requests?after=x",
            "",
            400,
            "the parameter `after` is a number",
        ),
        (
            "PUT /faults/hagn",
            "",
            400,
            "no fault is named `hagn`; did you mean `hang`?",
        ),
        (
            "PUT /faults/mine",
            "[]",
            400,
            "mine: invalid type: sequence",
        ),
        (
            "PUT /faults/mine",
            "{on: GET}",
            400,
            "mine: invalid endpoint `GET`: expected `METHOD /path`",
        ),
        ("PUT /faults/mine", "{\"a\": [", 400, "mine: "),
        (
            "PUT /faults/hang?times=-1",
            "",
            400,
            "the parameter `times` is a number",
        ),
        (
            "POST /faults",
            "{}",
            400,
            "invalid type: map, expected a sequence",
        ),
        (
            "DELETE /faults/hang",
            "",
            404,
            "no fault that is on is named `hang`",
        ),
        (
            "PATCH /faults/hang",
            "",
            405,
            "is not asked with this method",
        ),
    ] {
        let answer = mock.admin(line, body);
        assert_eq!(answer.status, status, "{line}: {answer:?}");
        let message = answer.json().get("message").cloned().unwrap_or_default();
        let message = message.as_str().unwrap_or_default();
        assert!(message.contains(reason), "{line}: {message}");
    }
    let refused = mock.decide("ann", "Conformance-Fault: nothing\r\n");
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(refused.json().get("code"), Some(&json!("mock_error")));
    assert_eq!(mock.admin("GET /", "").json(), mock.ready);
}

fn ends() {
    let mut mock = Mock::start(&["--exit-on-stdin-close"]);
    mock.input = None;
    let ended = mock.process.wait().expect("an end");
    assert_eq!(ended.code(), Some(0), "standard input was closed");
    let mut rest = String::new();
    mock.output.read_to_string(&mut rest).expect("its output");
    assert_eq!(rest, "", "one line is all");
    let mut mock = Mock::start(&["--control"]);
    // By default, the mock does not stop at the end of its input, and a request that hangs does not
    // delay its exit.
    mock.input = None;
    let hung = mock.open("engine", "GET /health", "Conformance-Fault: hang\r\n", b"");
    wait("the request comes", || !mock.requests("").is_empty());
    assert!(mock.process.try_wait().expect("its state").is_none());
    assert!(signal(mock.process.id(), "-TERM"));
    let ended = mock.process.wait().expect("an end");
    assert_eq!(ended.code(), Some(0), "it was asked to end");
    drop(hung);
}
