//! Tests of `conformance shim`: requests to an adapter, its responses, and a run of the rules on
//! the shim.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::adapter;
use crate::program::{HANG_LIMIT, LIMITS, NEVER, Program, long_timeout, signal, wait};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("an_adapter_is_asked_all_that_decides", asked),
    ("what_an_adapter_answers_is_told", answered),
    ("an_adapter_that_breaks_is_started_again", broken),
    ("an_adapter_that_hangs_is_started_again", hanging),
    ("a_library_is_judged_by_its_own_rules_only", judged),
    ("a_library_that_decides_wrongly_is_noticed", noticed),
    ("an_adapter_that_does_not_answer_is_refused", refused),
    ("what_an_adapter_starts_ends_with_it", children),
];

/// Number of rules that the target `shim` claims.
const CLAIMED: usize = 22;

/// Running shim, killed when dropped.
struct Shim {
    process: Child,
    url: String,
    program: Program,
}

impl Shim {
    /// Starts a shim and an adapter with a behaviour, practically without a timeout.
    fn start(behaviour: &str) -> Self {
        Self::start_with(behaviour, NEVER).expect("its address")
    }

    /// Starts a shim with a timeout in seconds; `None` if the first response of the adapter is
    /// late.
    fn start_with(behaviour: &str, limit: &str) -> Option<Self> {
        Self::start_behind("", behaviour, limit)
    }

    /// Starts a shim with an adapter after the shell command `before`.
    fn start_behind(before: &str, behaviour: &str, limit: &str) -> Option<Self> {
        let (name, value) = adapter::environment(behaviour);
        // This executable is both the shim and the adapter; the shell sets the variable for the
        // adapter only.
        let program = Program::new();
        let executable = std::env::current_exe().expect("this executable");
        let adapter = format!("{before}{name}={value} exec \"$0\"");
        let executable = executable.to_str().expect("a path in UTF-8");
        let limit = format!("--timeout={limit}");
        let arguments = ["shim", &limit, "sh", "-c", &adapter, executable];
        let mut process = program
            .command(&arguments)
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output");
        let read = BufReader::new(output).read_line(&mut line);
        if read.expect("text") == 0 {
            process.wait().expect("its end");
            return None;
        }
        let ready: Value =
            serde_json::from_str(&line).unwrap_or_else(|reason| panic!("{reason}: {line}"));
        let url = ready.get("engine").and_then(Value::as_str);
        Some(Self {
            process,
            url: url.expect("an address").to_owned(),
            program,
        })
    }

    /// Opens a connection to the shim, with the read timeout [`HANG_LIMIT`].
    fn connect(&self) -> TcpStream {
        let address = self.url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).expect("a connection");
        let limited = stream.set_read_timeout(Some(HANG_LIMIT));
        limited.expect("a time limit");
        stream
    }

    /// Sends a request; returns the status and the JSON body of the response.
    fn send(&self, line: &str, body: &str) -> (u16, Value) {
        let mut stream = self.connect();
        let length = body.len();
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: shim\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("a reader");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = match body {
            "" => Value::Null,
            body => serde_json::from_str(body).unwrap_or_else(|reason| panic!("{reason}: {body}")),
        };
        (status.expect("a status"), body)
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the member `code` of an error object.
fn code_of(error: &Value) -> Option<&str> {
    error.get("code")?.as_str()
}

fn asked() {
    let shim = Shim::start("echo");
    let (nothing, done) = (Value::Null, json!({}));
    let text = "package a.b\n\nc := input\n";
    for (line, body, answer) in [
        (
            "PUT /v1/data/a/n",
            "[1, 12345678901234567890.50]",
            (204, nothing.clone()),
        ),
        (
            "PUT /v1/data/a/x%20y/z",
            "{\"k\": 1}",
            (204, nothing.clone()),
        ),
        ("DELETE /v1/data/a/x%20y/z", "", (204, nothing.clone())),
        ("PUT /v1/policies/a/b.rego", text, (200, done.clone())),
        ("PUT /v1/policies/gone", text, (200, done.clone())),
        ("DELETE /v1/policies/gone", "", (200, done.clone())),
        ("GET /health", "", (200, done)),
    ] {
        assert_eq!(shim.send(line, body), answer, "{line}");
    }
    let modules = json!({"a/b.rego": text});
    let data: Value =
        serde_json::from_str(r#"{"a": {"n": [1, 12345678901234567890.50], "x y": {}}}"#)
            .expect("JSON");
    let question = |more: Value| {
        let mut question = json!({"modules": modules, "data": data});
        for (name, value) in more.as_object().into_iter().flatten() {
            let members = question.as_object_mut().expect("an object");
            members.insert(name.clone(), value.clone());
        }
        (200, json!({"result": question}))
    };
    for (line, body, more) in [
        ("GET /v1/data/a/b/c", "", json!({"path": ["a", "b", "c"]})),
        ("GET /v1/data/a/n/0", "", json!({"path": ["a", "n", 0]})),
        (
            "GET /v1/data/a%2Fb/%22%5D?input=null&pretty=true",
            "",
            json!({"path": ["a/b", "\"]"], "input": null}),
        ),
        ("POST /v1/data/a", "", json!({"path": ["a"]})),
        ("POST /v1/data/a", "{\"a\": 1}", json!({"path": ["a"]})),
        (
            "POST /v1/data/a?strict-builtin-errors=true",
            "{\"input\": {\"b\": [false]}}",
            json!({"path": ["a"], "input": {"b": [false]}, "strict_builtin_errors": true}),
        ),
        (
            "POST /v1/data/a?strict-builtin-errors=false&input=1",
            "{\"input\": 2}",
            json!({"path": ["a"], "input": 2}),
        ),
    ] {
        assert_eq!(shim.send(line, body), question(more), "{line}");
    }
    // The shim itself responds to requests for stored documents and policies.
    assert_eq!(
        shim.send("GET /v1/data", ""),
        (200, json!({"result": data}))
    );
    let policies = json!({"result": [{"id": "a/b.rego", "raw": text}]});
    assert_eq!(shim.send("GET /v1/policies", ""), (200, policies));
    for (line, body, status) in [
        ("GET /v1/data/a?input=%7B", "", 400),
        ("POST /v1/data/a", "{", 400),
        ("POST /v1/data/a", "[]", 400),
        ("PUT /v1/data/a", "{", 400),
        ("PUT /v1/data/a/n/x", "1", 404),
        ("DELETE /v1/data/none", "", 404),
        ("GET /v1/policies/none", "", 404),
        ("DELETE /v1/policies/none", "", 404),
        ("GET /v1/data/%FF", "", 400),
        ("PATCH /v1/data/a", "[]", 405),
        ("GET /v1/query?q=x", "", 404),
    ] {
        let (code, error) = shim.send(line, body);
        assert_eq!(code, status, "{line}");
        assert!(
            code_of(&error).is_some() && error.get("message").is_some(),
            "{line}: {error}"
        );
    }
}

fn answered() {
    let shim = Shim::start("decide");
    let policy = "package a\n\ntwice := input.n * 2\n\nnone := null\n\nnumber := to_number(input.n)\n\nboth := 1 if input\n\nboth := 2 if input\n";
    assert_eq!(shim.send("PUT /v1/policies/a", policy).0, 200);
    for (line, body, answer) in [
        (
            "POST /v1/data/a/twice",
            "{\"input\": {\"n\": 4}}",
            json!({"result": 8}),
        ),
        ("POST /v1/data/a/none", "", json!({"result": null})),
        ("POST /v1/data/a/twice", "", json!({})),
        (
            "POST /v1/data/a/number",
            "{\"input\": {\"n\": \"x\"}}",
            json!({}),
        ),
    ] {
        assert_eq!(shim.send(line, body), (200, answer), "{line}");
    }
    let strict = "POST /v1/data/a/number?strict-builtin-errors";
    for (line, input, code) in [
        (strict, "{\"n\": \"x\"}", "internal_error"),
        ("POST /v1/data/a/both", "1", "internal_error"),
    ] {
        let (status, error) = shim.send(line, &format!("{{\"input\": {input}}}"));
        assert_eq!((status, code_of(&error)), (500, Some(code)), "{error}");
    }
    // A policy with an error is refused, and the previous policy stays in effect.
    let (status, error) = shim.send("PUT /v1/policies/a", "package a\n\ntwice := nothing\n");
    let code = code_of(&error);
    assert_eq!((status, code), (400, Some("invalid_parameter")), "{error}");
    let twice = shim.send("POST /v1/data/a/twice", "{\"input\": {\"n\": 4}}");
    assert_eq!(twice, (200, json!({"result": 8})));
}

fn broken() {
    let shim = Shim::start("decide");
    shim.send("PUT /v1/data/kept", "1");
    for (path, reason) in [
        ("end", "the adapter ended (exit status: 7)"),
        ("nonsense", "the adapter answered no answer"),
    ] {
        let (status, error) = shim.send(&format!("GET /v1/data/{path}"), "");
        let message = error.get("message").and_then(Value::as_str);
        let message = message.unwrap_or_default();
        assert!(
            status == 500 && message.starts_with(reason),
            "{path}: {error}"
        );
        let next = shim.send("GET /v1/data/kept", "");
        assert_eq!(next, (200, json!({"result": 1})), "{path}");
    }
    // A late response for a client that has disconnected is not sent to another client.
    let mut stream = shim.connect();
    write!(stream, "GET /v1/data/hang HTTP/1.1\r\nHost: shim\r\n\r\n").expect("a reader");
    drop(stream);
    let next = shim.send("GET /v1/data/kept", "");
    assert_eq!(next, (200, json!({"result": 1})));
}

fn hanging() {
    // Only the request that hangs may time out.
    let found = LIMITS.iter().find_map(|limit| {
        let shim = Shim::start_with("decide", limit)?;
        shim.send("PUT /v1/data/kept", "1");
        let late = format!("the adapter did not answer within {limit} s");
        let is_late = |(status, error): &(u16, Value)| {
            let message = error.get("message").and_then(Value::as_str);
            *status == 500 && message == Some(&late)
        };
        let hung = shim.send("GET /v1/data/hang", "");
        assert!(is_late(&hung), "{hung:?}");
        let next = shim.send("GET /v1/data/kept", "");
        (!is_late(&next)).then_some(next)
    });
    assert_eq!(found, Some((200, json!({"result": 1}))));
}

fn judged() {
    let shim = Shim::start("decide");
    let on = [
        "--target=shim",
        "--engine-url",
        &shim.url,
        "--report=json=r.json",
        &long_timeout("timeout"),
    ];
    shim.program.run(&on).expect(
        0,
        &[
            &format!("proven {CLAIMED} of {CLAIMED} claimed rules"),
            "the target does not claim this rule",
        ],
    );
    // Rules about stored documents are not run, because the shim itself would satisfy them.
    let report: Value = serde_json::from_str(&shim.program.read("r.json")).expect("JSON");
    let rules = report
        .get("rules")
        .and_then(Value::as_array)
        .expect("rules");
    let is = |rule: &Value, outcome: &str| rule.get("outcome") == Some(&json!(outcome));
    let of = |outcome: &str| rules.iter().filter(|rule| is(rule, outcome)).count();
    assert_eq!((of("pass"), of("fail"), of("recorded")), (CLAIMED, 0, 0));
    let stores = json!("engine/v1/data/put/stores-any-json");
    let stores = rules.iter().find(|rule| rule.get("rule") == Some(&stores));
    assert!(stores.is_some_and(|rule| is(rule, "not-run")), "{stores:?}");
    assert_eq!(shim.send("GET /v1/data", ""), (200, json!({"result": {}})));
}

fn noticed() {
    for (behaviour, rule) in [
        (
            "null-is-undefined",
            "engine/v1/data/post/undefined-omits-result",
        ),
        ("takes-all", "engine/v1/policies/put/compile-failure-is-400"),
        (
            "input-lost",
            "engine/v1/data/post/input-field-is-input-document",
        ),
    ] {
        let shim = Shim::start(behaviour);
        let timeout = long_timeout("timeout");
        let on = ["--target=shim", "--engine-url", &shim.url, &timeout, rule];
        shim.program.run(&on).expect(1, &[&format!("FAIL {rule}")]);
    }
}

fn refused() {
    for (limit, adapter, reason) in [
        (
            NEVER,
            &["no-such-adapter"][..],
            "cannot start `no-such-adapter`",
        ),
        (NEVER, &["false"], "the adapter ended (exit status: 1)"),
        (NEVER, &["cat"], "the adapter answered no answer"),
        (
            "0.5",
            &["sleep", "600"],
            "the adapter did not answer within 0.5 s",
        ),
    ] {
        let limit = format!("--timeout={limit}");
        let arguments = [&["shim", &limit][..], adapter].concat();
        Program::new().run(&arguments).expect(2, &[reason]);
    }
    Program::new().run(&["shim"]).expect(2, &["COMMAND"]);
}

/// Returns true if a process exists and is not a zombie.
fn runs(process: &str) -> bool {
    let output = Command::new("ps")
        .args(["-o", "stat=", "-p", process])
        .output();
    let state = output.expect("ps").stdout;
    state.first().is_some_and(|state| *state != b'Z')
}

/// Child processes of an adapter end when the adapter is replaced, and when the shim ends.
fn children() {
    let before = "sleep 1000 & echo $! >> children; sleep 1000 & echo $! >> children; ";
    let mut shim = Shim::start_behind(before, "decide", NEVER).expect("its address");
    let started = |shim: &Shim, count| {
        let text = shim.program.read("children");
        let all: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(all.len(), count, "{text}");
        let new: Vec<String> = all.into_iter().skip(count - 2).collect();
        assert!(new.iter().all(|one| runs(one)), "{new:?}");
        new
    };
    let first = started(&shim, 2);
    // The response of the adapter is invalid, so the shim starts a new adapter for the next
    // request.
    assert_eq!(shim.send("GET /v1/data/nonsense", "").0, 500);
    wait("children of an adapter that is given up", || {
        !first.iter().any(|one| runs(one))
    });
    shim.send("GET /v1/data/a", "");
    let second = started(&shim, 4);
    assert!(signal(shim.process.id(), "-TERM"));
    shim.process.wait().expect("its end");
    wait("children of an adapter whose shim has ended", || {
        !second.iter().any(|one| runs(one))
    });
}
