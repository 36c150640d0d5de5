//! Evaluations that take long, use much memory or never end, concurrently with others.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reference::Running;
use rstest::rstest;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::wire::{GET, HANG_LIMIT, all, connect, ending, engine, send, send_request};

/// Policy in which the cost of `p` is the sixth power of the length of `input.l`.
const POLICY: &str = "package t\n\
    p := count([1 | some a in input.l; some b in input.l; some c in input.l; \
    some d in input.l; some e in input.l; some f in input.l; a + b + c + d + e + f == -1])\n\
    q if input.x == 1\n\
    many := count([[a, b] | some a in input.l; some b in input.l])\n";

fn request(line: &str, body: &str, more: &str) -> String {
    let length = body.len();
    format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n{more}\r\n{body}")
}

fn last(line: &str, body: &str) -> String {
    request(line, body, "Connection: close\r\n")
}

/// Length of `input.l` for which the evaluation of `p` practically never ends.
const LONG: u32 = 1_000;

/// Starts an engine with the policy and further flags.
async fn loaded(flags: &[&str]) -> Running {
    let running = engine(flags).await;
    let answer = send_request(&running, &last("PUT /v1/policies/t", POLICY)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    running
}

/// Formats the numbers from 1 to `length` as list items.
fn list(length: u32) -> String {
    let numbers: Vec<String> = (1..=length).map(|number| number.to_string()).collect();
    numbers.join(", ")
}

fn input_of_length(length: u32) -> String {
    format!("{{\"input\": {{\"l\": [{}]}}}}", list(length))
}

/// Sends quick requests, then opens connections with requests that never end.
async fn flood(
    running: &Running,
    line: &str,
    body: impl Fn(u32) -> String,
    count: usize,
) -> Vec<TcpStream> {
    for _ in 0..5 {
        let answer = send_request(running, &last(line, &body(1))).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = connect(running).await;
        send(&mut stream, &request(line, &body(LONG), "")).await;
        open.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    open
}

/// Asserts that the engine is healthy.
async fn assert_healthy(running: &Running) {
    let answer = send_request(running, GET).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Flags for evaluations without a timeout, and for a shutdown that does not wait for them.
const ENDLESS: [&str; 4] = ["--evaluation-timeout", "0", "--shutdown-grace-period", "1"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_quick_holds_up_nobody_when_it_is_not() {
    let residual = |length: u32| {
        format!(
            "{{\"query\": \"data.t.p == 0; input.x == 1\", \"unknowns\": [\"input.x\"], \
             \"input\": {{\"l\": [{}]}}}}",
            list(length)
        )
    };
    let running = loaded(&ENDLESS).await;
    let decisions = flood(&running, "POST /v1/data/t/p", input_of_length, 4).await;
    let residuals = flood(&running, "POST /v1/compile", residual, 4).await;
    for _ in 0..3 {
        assert_healthy(&running).await;
        let answer = send_request(
            &running,
            &last("POST /v1/data/t/q", "{\"input\": {\"x\": 1}}"),
        )
        .await;
        assert!(answer.contains("\"result\":true"), "{answer}");
    }
    drop((decisions, residuals));
    assert_healthy(&running).await;
    ending("the engine", running.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_endless_evaluations_leave_room_for_others() {
    let running = loaded(&ENDLESS).await;
    let open = flood(&running, "POST /v1/data/t/p", input_of_length, 64).await;
    // A request that takes several time slices does not delay quick requests.
    let mut long = connect(&running).await;
    let line = "POST /v1/data/t/p";
    send(&mut long, &request(line, &input_of_length(8), "")).await;
    let mut stream = connect(&running).await;
    for at in 0..40 {
        let next_request = match at % 2 {
            0 => request("GET /health", "", ""),
            _ => request("POST /v1/data/t/q", "{\"input\": {\"x\": 1}}", ""),
        };
        send(&mut stream, &next_request).await;
        let mut head = [0; 512];
        let read = ending("an answer", stream.read(&mut head)).await;
        let read = read.unwrap_or_default();
        let head = String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
    let early = tokio::time::timeout(Duration::ZERO, long.readable()).await;
    assert!(early.is_err(), "the quick ones take turns with the others");
    // A longer request also gets time slices.
    let answer = send_request(&running, &last(line, &input_of_length(4))).await;
    assert!(answer.contains("\"result\":0"), "{answer}");
    drop((open, long));
    ending("the engine", running.shutdown()).await;
}

#[rstest]
#[case::time(&["--evaluation-timeout", "200ms"], "p", LONG, "500", "eval_cancel_error")]
#[case::values(&["--evaluation-values", "10000"], "many", 1_000, "500", "made too many values")]
#[case::memory(&["--evaluation-memory", "1MiB"], "many", 1_000, "503", "\"code\": \"unavailable\"")]
#[case::enough_memory(&["--evaluation-memory", "1MiB"], "many", 10, "200", "\"result\":100")]
#[tokio::test]
async fn evaluations_have_limits(
    #[case] flags: &[&str],
    #[case] path: &str,
    #[case] n: u32,
    #[case] status: &str,
    #[case] part: &str,
) {
    let running = loaded(flags).await;
    let line = format!("POST /v1/data/t/{path}");
    let answer = send_request(&running, &last(&line, &input_of_length(n))).await;
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{flags:?}: {answer}"
    );
    assert!(answer.contains(part), "{flags:?}: {answer}");
    let is_unavailable = status == "503";
    let waits = answer
        .to_ascii_lowercase()
        .contains("\r\nretry-after: 1\r\n");
    assert_eq!(waits, is_unavailable, "{answer}");
    running.shutdown().await;
}

/// Engine process, killed when dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_ends_within_the_grace_period() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?
        .local_addr()?
        .port();
    let address = format!("127.0.0.1:{port}");
    let child = Command::new(env!("CARGO_BIN_EXE_reference"))
        .args(["engine", "--addr", &address, "--shutdown-grace-period", "1"])
        .stderr(Stdio::null())
        .spawn()?;
    let mut program = Program(child);
    let started = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(&address).await {
            Ok(stream) => break stream,
            Err(reason) if started.elapsed() > HANG_LIMIT => return Err(reason.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    send(&mut stream, &last("PUT /v1/policies/t", POLICY)).await;
    all(&mut stream).await;
    let mut open = Vec::new();
    for n in [1, 1, 1, 1, 1, LONG, LONG, LONG] {
        let mut stream = TcpStream::connect(&address).await?;
        send(&mut stream, &last("POST /v1/data/t/p", &input_of_length(n))).await;
        match n {
            1 => drop(all(&mut stream).await),
            _ => open.push(stream),
        }
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let pid = program.0.id().to_string();
    let stopped = Instant::now();
    let signal = Command::new("sh")
        .args(["-c", "kill -s TERM \"$0\"", &pid])
        .status()?;
    assert!(signal.success());
    while program.0.try_wait()?.is_none() {
        assert!(stopped.elapsed() < HANG_LIMIT, "it does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
