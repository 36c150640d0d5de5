//! Tests of the suite on servers that misbehave.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use conformance::Suite;
use conformance::evidence::{ClauseVerdict, Event, RunFinished};
use conformance::target::{Target, Token};
use conformance::verdict::{Failure, Reason, Verdict};

/// Method, path and Authorization header of a request.
type ReceivedRequest = (String, String, Option<String>);

/// Status and body; none closes the connection.
type Reply = Option<(u16, String)>;

/// A server that answers each request with the given status and body, in the requested media type;
/// it closes the connection if there is no reply. It ends with the test.
struct Stub {
    url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Stub {
    fn start(answer: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || serve(&stream, answer.as_ref(), &log));
            }
        });
        Self {
            url: format!("http://{address}"),
            requests,
        }
    }

    fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().expect("a lock").clone()
    }
}

fn serve(
    stream: &TcpStream,
    answer: &dyn Fn(&str, &str) -> Reply,
    log: &Mutex<Vec<ReceivedRequest>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let (mut length, mut authorization) = (0, None);
        let mut media_type = "application/json".to_owned();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(": ") else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "authorization" => authorization = Some(value.to_owned()),
                "accept" if value.contains("/vnd.") => media_type = value.to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let reply = answer(&method, &path);
        log.lock().ok()?.push((method, path, authorization));
        let (status, body) = reply?;
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut writer = stream;
        writer.write_all((head + &body).as_bytes()).ok()?;
    }
}

const KEY: &str = "key-that-nobody-may-see";

/// Runs these rules on the engine at this address and returns the results.
fn run(url: &str, rules: &[&str]) -> (Vec<Event>, Vec<ClauseVerdict>, RunFinished) {
    let capabilities = ["documents", "filters", "policies"]
        .map(str::to_owned)
        .into();
    let target = Target::at(
        None,
        Some(url.to_owned()),
        Some(Token::new(KEY)),
        capabilities,
    );
    let suite = Suite::builder(target)
        .rules(rules.iter().map(|rule| (*rule).to_owned()))
        .jobs(1)
        .build()
        .expect("a suite");
    let mut events = Vec::new();
    suite.run(|event| events.push(event));
    let judged = events
        .iter()
        .filter_map(|event| match event {
            Event::Judged(judged) => Some(judged.as_ref().clone()),
            _ => None,
        })
        .collect();
    let Some(Event::RunFinished(finished)) = events.last().cloned() else {
        panic!("no end: {events:?}");
    };
    (events, judged, finished)
}

/// Returns the failure of the only rule of a run.
fn failure(judged: &[ClauseVerdict]) -> &Failure {
    match judged {
        [
            ClauseVerdict {
                verdict: Verdict::Fail(failure),
                ..
            },
        ] => failure,
        _ => panic!("{judged:?}"),
    }
}

const KEEPS: &str = "engine/v1/data/put/if-none-match-keeps-existing";
const DELETES: &str = "engine/v1/policies/delete/answers-empty-object";
const CREATES: &str = "engine/v1/data/put/creates-containing-documents";

#[test]
fn a_failed_prerequisite_fails_the_rule_and_is_cleaned_up() {
    let stub = Stub::start(|_, _| Some((500, format!("{{\"message\": \"{KEY}\"}}"))));
    let (events, judged, finished) = run(&stub.url, &[KEEPS]);
    let failure = failure(&judged);
    assert_eq!((failure.step, failure.blocked), (1, true));
    let note = failure.notes.first().expect("a note");
    assert!(
        note.starts_with("prerequisite failed: status 500"),
        "{note}"
    );
    let command = failure.curl.last().expect("a command");
    assert!(command.contains("\"$CONFORMANCE_TOKEN\""), "{command}");
    let evidence = serde_json::to_string(&events).expect("JSON");
    assert!(!evidence.contains(KEY), "{evidence}");
    let requests = stub.requests();
    let removed = requests.iter().any(|(method, path, _)| {
        method == "DELETE" && path.starts_with("/v1/data/") && path.contains("if_none_match")
    });
    assert!(removed, "{requests:?}");
    let key = format!("Bearer {KEY}");
    assert!(
        requests
            .iter()
            .filter(|(_, path, _)| path != "/health")
            .all(|(_, _, sent)| sent.as_ref() == Some(&key)),
        "{requests:?}"
    );
    assert_eq!(finished.unreachable, None);
}

#[test]
fn what_differs_before_a_prerequisite_fails_is_the_failure() {
    // Nothing is deleted, so the module is still there afterwards too.
    let stub = Stub::start(|method, _| match method {
        "DELETE" => Some((200, r#"{"deleted": false}"#.to_owned())),
        _ => Some((200, "{}".to_owned())),
    });
    let (_, judged, _) = run(&stub.url, &[DELETES]);
    let failure = failure(&judged);
    assert!(failure.request.starts_with("DELETE "), "{failure}");
    assert!(!failure.blocked, "{failure}");
}

#[test]
fn what_differs_is_named_by_its_place() {
    // Accepts everything and stores nothing.
    let stub = Stub::start(|method, _| match method {
        "GET" => Some((200, "{\"result\": {\"a\": 1}}".to_owned())),
        _ => Some((204, String::new())),
    });
    let (_, judged, _) = run(&stub.url, &[CREATES]);
    let failure = failure(&judged);
    let difference = failure.differences.first().expect("a difference");
    assert!(difference.path.starts_with("/result"), "{failure:?}");
}

#[test]
fn rows_that_a_filter_leaks_are_named() {
    let clause = "WHERE fruits.colour = 'red' OR fruits.colour IS NULL";
    let stub = Stub::start(move |method, _| match method {
        "POST" => Some((200, format!("{{\"result\": {{\"query\": \"{clause}\"}}}}"))),
        _ => Some((200, "{}".to_owned())),
    });
    let (_, judged, _) = run(&stub.url, &["engine/v1/compile/filters/post/sqlite-query"]);
    let failure = failure(&judged);
    let leaked = failure.differences.first().expect("a difference");
    assert_eq!(leaked.path, "rows /result/query/durian", "{failure:?}");
    assert_eq!(leaked.expected, "<absent>");
}

#[test]
fn what_is_left_behind_is_named() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let stub = Stub::start(move |method, path| {
        let mut names = names.lock().ok()?;
        match (method, path) {
            ("GET", "/v1/data") => {
                let members: Vec<String> =
                    names.iter().map(|name| format!("\"{name}\": 1")).collect();
                Some((200, format!("{{\"result\": {{{}}}}}", members.join(","))))
            }
            ("PUT", path) => {
                names.push(path.split('/').nth(3)?.to_owned());
                Some((204, String::new()))
            }
            ("DELETE", _) => Some((204, String::new())),
            _ => Some((200, "{}".to_owned())),
        }
    });
    let (events, _, _) = run(&stub.url, &[CREATES]);
    let leaked = events.iter().find_map(|event| match event {
        Event::Leaked(leaked) => Some(leaked.names.clone()),
        _ => None,
    });
    let leaked = leaked.expect("a leak");
    assert!(
        leaked.iter().all(|name| name.starts_with("/v1/data/c")),
        "{leaked:?}"
    );
}

#[test]
fn a_target_that_is_not_there_is_no_failure_of_a_rule() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let (_, judged, finished) = run(&format!("http://{address}"), &[KEEPS, CREATES]);
    assert_eq!(judged.len(), 2);
    for one in &judged {
        assert!(
            matches!(one.verdict, Verdict::NotRun(Reason::Unreachable(_))),
            "{one:?}"
        );
    }
    assert!(finished.unreachable.is_some());
}

#[test]
fn a_server_that_drops_a_request_fails_the_rule_and_is_asked_on() {
    let stub = Stub::start(|method, _| (method != "PUT").then(|| (200, "{}".to_owned())));
    let (_, judged, finished) = run(&stub.url, &[KEEPS, CREATES]);
    for one in &judged {
        let Verdict::Fail(failure) = &one.verdict else {
            panic!("{one:?}");
        };
        // If a response is judged, its expected value is shown next to it.
        let reported = match failure.differences.first() {
            Some(status) => {
                assert_eq!(
                    (status.path.as_str(), one.rule.as_str()),
                    ("status", CREATES)
                );
                &status.got
            }
            None => failure.notes.first().expect("a note"),
        };
        assert_eq!(reported, "no answer: the server closed the connection");
    }
    assert_eq!(finished.unreachable, None);
}
