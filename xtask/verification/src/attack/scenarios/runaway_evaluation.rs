//! Runaway evaluations through every endpoint, by clients that disconnect in every way. Fast
//! requests first make the path look fast to the server.

use std::time::Duration;

use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::frames::{self, Frames, RST_STREAM, frame};
use crate::attack::harness::{ATTACKER, Harness, NEVER};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{
    Failure, HANG_LIMIT, Process, Wire, exchange, exchange_ok, request, request_with,
};

/// Policy whose cost is the cube of a number that the client chooses, and that creates at most that
/// number of values, so that only a time limit ends its evaluation.
const POLICY: (&str, &str) = (
    "endless.rego",
    "package endless\n\n\
     work(n) := count([1 |\n\tr := numbers.range(1, n)\n\
     \tsome a in r\n\tsome b in r\n\tsome c in r\n\ta + b + c == -1\n])\n\n\
     p := work(input.n)\n\n\
     include if {\n\twork(input.n) == 0\n\tinput.rows.x == 1\n}\n",
);

/// Health rule with the same cost, for the number in a document.
const HEALTH: (&str, &str) = (
    "health.rego",
    "package system.health\n\nslow if data.endless.work(data.size) == 0\n",
);

/// Policy that determines the response to `POST /`.
const MAIN: (&str, &str) = ("main.rego", "package system\n\nmain := data.endless.p\n");

/// Name of the endpoint that gets its number from a document, not from an input.
const BY_DOCUMENT: &str = "health rule";

/// Number for an evaluation that ends at once, and for one that never ends.
const QUICK: u32 = 1;
const ENDLESS: u32 = 100_000;

/// Duration of an evaluation before its client disconnects.
const RUNNING: Duration = Duration::from_millis(300);

/// Time limit of an evaluation, and the CPU time that it may use then, which is less on a busy
/// machine. Without the limit the evaluation would use all available CPU time for half a minute.
const TIMEOUT: &str = "500ms";
const TIMED: Duration = Duration::from_secs(4);

/// CPU share of an idle server, due to the health monitor, in processors.
const RESTING: f64 = 0.3;

/// Number of concurrent endless evaluations, many more than server threads.
const MANY: usize = 24;

/// How a client disconnects.
#[derive(Debug, Clone, Copy)]
enum Leave {
    Close,
    HalfClose,
    Reset,
    /// Closes the connection after another request, which is in the server's buffer.
    Pipelined,
    /// Closes the connection after as many further requests as fit in the server's socket.
    Flooded,
    Stream,
    Connection,
}

const LEAVES: &[Leave] = &[
    Leave::Close,
    Leave::Pipelined,
    Leave::HalfClose,
    Leave::Reset,
    Leave::Flooded,
    Leave::Stream,
    Leave::Connection,
];

/// Number of ways to disconnect that are tried at every endpoint, also without `--long`.
const ALWAYS: usize = 2;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut server = start(harness).await?;
    for (number, (kind, make)) in KINDS.iter().enumerate() {
        poison(&server, kind, *make).await?;
        let ways = match harness.long || number == 0 {
            true => LEAVES.len(),
            false => ALWAYS,
        };
        let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
        let mut rests = true;
        for leave in LEAVES.iter().take(ways) {
            let left = abandon(&server, &make(ENDLESS), *leave).await;
            findings.succeed(&format!("{kind}, {leave:?}"), left);
            rests = server.rests(HANG_LIMIT, RESTING).await?;
            // The cancelled evaluation may have made the path look slow.
            if rests {
                poison(&server, kind, *make).await?;
            }
            findings.check(
                format!("{kind}: it goes on after its client left by {leave:?}"),
                rests,
            );
            if !rests {
                break;
            }
        }
        findings.watch(bystander.stop().await?);
        if !rests {
            server = start(harness).await?;
        }
    }
    together(&mut findings, &server).await?;
    // Evaluations of the last attack are still running.
    findings.check_memory(&server, 1024)?;
    findings.end(&mut server).await?;
    timed(harness, &mut findings).await?;
    Ok(findings)
}

async fn start(harness: &Harness) -> Result<Process, Failure> {
    let arguments = ["--evaluation-timeout", NEVER];
    harness.engine(&arguments, &[POLICY, HEALTH, MAIN]).await
}

type Make = fn(u32) -> Vec<u8>;

/// Every endpoint that evaluates a policy, by name, with a function that makes its request.
const KINDS: &[(&str, Make)] = &[
    ("decision", |n| {
        let body = format!("{{\"input\": {{\"n\": {n}}}}}");
        request("POST", "/v1/data/endless/p", &body)
    }),
    ("decision by GET", |n| {
        let path = format!("/v1/data/endless/p?input=%7B%22n%22%3A{n}%7D");
        request("GET", &path, "")
    }),
    ("decision of v0", |n| {
        request("POST", "/v0/data/endless/p", &format!("{{\"n\": {n}}}"))
    }),
    ("default decision", |n| {
        request("POST", "/", &format!("{{\"n\": {n}}}"))
    }),
    ("query", |n| {
        let body = format!("{{\"query\": \"data.endless.p = x\", \"input\": {{\"n\": {n}}}}}");
        request("POST", "/v1/query", &body)
    }),
    ("compile", |n| {
        let body = format!(
            "{{\"query\": \"data.endless.p == input.y\", \"input\": {{\"n\": {n}}}, \
             \"unknowns\": [\"input.y\"]}}"
        );
        request("POST", "/v1/compile", &body)
    }),
    ("filter", |n| {
        let body = format!("{{\"input\": {{\"n\": {n}}}, \"unknowns\": [\"input.rows\"]}}");
        let accept = "Accept: application/vnd.engine.sql.postgresql+json\r\n";
        request_with(
            "POST",
            "/v1/compile/endless/include",
            accept,
            body.as_bytes(),
        )
    }),
    (BY_DOCUMENT, |_| request("GET", "/health/slow", "")),
];

/// Makes the evaluated path look fast to the server. A write would make the server measure again,
/// so the document of the health rule is small only for requests of that rule.
async fn poison(server: &Process, kind: &str, make: Make) -> Result<(), Failure> {
    let at = server.address;
    let size = |size: u32| request("PUT", "/v1/data/size", &size.to_string());
    let by_document = kind == BY_DOCUMENT;
    let before = if by_document { QUICK } else { ENDLESS };
    exchange_ok(at, ATTACKER, &size(before)).await?;
    for _ in 0..5 {
        exchange_ok(at, ATTACKER, &make(QUICK)).await?;
    }
    if by_document {
        exchange_ok(at, ATTACKER, &size(ENDLESS)).await?;
    }
    Ok(())
}

/// Starts an evaluation and disconnects. A response is an error, as the evaluation is endless.
async fn abandon(server: &Process, request_bytes: &[u8], leave: Leave) -> Result<(), Failure> {
    let further = request("GET", "/health", "");
    match leave {
        Leave::Stream | Leave::Connection => {
            let mut client = Frames::connect(server.address, ATTACKER, &[]).await?;
            let body = format!("{{\"input\": {{\"n\": {ENDLESS}}}}}");
            let post = frames::post(1, "/v1/data/endless/p", &body);
            client.send(&post).await?;
            sleep(RUNNING).await;
            if matches!(leave, Leave::Stream) {
                let cancel = frame(RST_STREAM, 0, 1, &8_u32.to_be_bytes());
                client.send(&cancel).await?;
                // The connection outlives its stream.
                tokio::spawn(async move {
                    sleep(HANG_LIMIT).await;
                    drop(client);
                });
            }
            return Ok(());
        }
        Leave::Close | Leave::HalfClose | Leave::Reset | Leave::Pipelined | Leave::Flooded => {}
    }
    let mut client = Wire::connect(server.address, ATTACKER).await?;
    client.send(request_bytes).await?;
    match leave {
        Leave::Pipelined => client.send(&further).await?,
        Leave::Flooded => {
            // More than the server reads ahead, and less than its socket buffers.
            for _ in 0..800 {
                client.send(&further).await?;
            }
        }
        _ => {}
    }
    if let Ok(answer) = client.answer_within(RUNNING).await {
        return Err(format!("answered with {} {}", answer.status(), answer.text()).into());
    }
    if matches!(leave, Leave::Pipelined) {
        // The first one may have arrived together with the request.
        client.send(&further).await?;
        sleep(RUNNING).await;
    }
    match leave {
        Leave::HalfClose => {
            client.half_close().await?;
            tokio::spawn(async move { client.closes(HANG_LIMIT).await });
        }
        Leave::Reset => client.reset()?,
        _ => drop(client),
    }
    Ok(())
}

/// Checks that the time limit ends evaluations at every endpoint whose clients wait.
async fn timed(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let arguments = ["--evaluation-timeout", TIMEOUT];
    let mut server = harness.engine(&arguments, &[POLICY, HEALTH, MAIN]).await?;
    let size = request("PUT", "/v1/data/size", &ENDLESS.to_string());
    exchange_ok(server.address, ATTACKER, &size).await?;
    for (kind, make) in KINDS {
        let mut client = Wire::connect(server.address, ATTACKER).await?;
        let before = server.cpu()?;
        client.send(&make(ENDLESS)).await?;
        let answer = client.answer().await;
        let taken = server.cpu()?.saturating_sub(before);
        let result = match answer {
            Ok(answer) if answer.status() != 500 => {
                Err(format!("{} {}", answer.status(), answer.text()))
            }
            Ok(_) if taken > TIMED => Err(format!("{taken:.1?} of the processors")),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        findings.succeed(&format!("{kind}, for {TIMEOUT} at most"), result);
    }
    findings.end(&mut server).await
}

/// Starts many concurrent evaluations at every endpoint, whose clients stay connected. Other
/// requests must be answered meanwhile, and the server must end while the evaluations run.
async fn together(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    for (kind, make) in KINDS.iter().rev() {
        poison(server, kind, *make).await?;
    }
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    for number in 0..MANY {
        let Some((_, make)) = KINDS.get(number % KINDS.len()) else {
            continue;
        };
        let (to, request) = (server.address, make(ENDLESS));
        // Their outcome is ignored; the end of the server ends them at the latest.
        tokio::spawn(async move { exchange(to, ATTACKER, &request).await.ok() });
    }
    sleep(Duration::from_secs(3)).await;
    findings.watch(bystander.stop().await?);
    Ok(())
}
