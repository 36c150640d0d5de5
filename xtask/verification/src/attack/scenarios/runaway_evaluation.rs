//! Runaway evaluations through every endpoint, by clients that disconnect in every way. A path is
//! made to look quick first.

use std::time::Duration;

use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::frames::{self, Frames, RST_STREAM, frame};
use crate::attack::harness::{ATTACKER, Harness, NEVER};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Process, Wire, ask, done, request, request_with};

/// What costs the cube of a number that the client chooses, and makes no more values than that
/// number: nothing but time ends it.
const POLICY: (&str, &str) = (
    "endless.rego",
    "package endless\n\n\
     work(n) := count([1 |\n\tr := numbers.range(1, n)\n\
     \tsome a in r\n\tsome b in r\n\tsome c in r\n\ta + b + c == -1\n])\n\n\
     p := work(input.n)\n\n\
     include if {\n\twork(input.n) == 0\n\tinput.rows.x == 1\n}\n",
);

/// A health rule that does the same by a document.
const HEALTH: (&str, &str) = (
    "health.rego",
    "package system.health\n\nslow if data.endless.work(data.size) == 0\n",
);

/// What `POST /` answers.
const MAIN: (&str, &str) = ("main.rego", "package system\n\nmain := data.endless.p\n");

/// The endpoint that has no input.
const BY_DOCUMENT: &str = "health rule";

/// The number of a request that ends at once, and of one that never does.
const QUICK: u32 = 1;
const ENDLESS: u32 = 100_000;

/// How long an evaluation runs before its client leaves.
const RUNNING: Duration = Duration::from_millis(300);

/// How long an evaluation may take where that is asked for, and how much of the processors' time it may
/// take then, which is less on a machine that is busy. Without the limit it would take all that it gets
/// for half a minute.
const TIMEOUT: &str = "500ms";
const TIMED: Duration = Duration::from_secs(4);

/// The share of one processor that a resting server takes for the bystander.
const RESTING: f64 = 0.3;

/// Endless evaluations at the same time; many more than threads that serve connections.
const MANY: usize = 24;

/// How a client leaves.
#[derive(Debug, Clone, Copy)]
enum Leave {
    Close,
    HalfClose,
    Reset,
    /// Closes with a further request in the server's buffer.
    Pipelined,
    /// The same with as much as the server's socket takes.
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

/// The ways that are tried at every endpoint, also in a hurry.
const ALWAYS: usize = 2;

pub(super) async fn play(harness: &Harness) -> Result<Findings, Failure> {
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
            // What left may have made the path look slow.
            if rests {
                poison(&server, kind, *make).await?;
            }
            findings.hold(
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
    // Those of the last attack still run.
    findings.weigh(&server, 1024)?;
    findings.end(&mut server).await?;
    timed(harness, &mut findings).await?;
    Ok(findings)
}

async fn start(harness: &Harness) -> Result<Process, Failure> {
    let arguments = ["--evaluation-timeout", NEVER];
    harness.engine(&arguments, &[POLICY, HEALTH, MAIN]).await
}

type Make = fn(u32) -> Vec<u8>;

/// Every endpoint that evaluates.
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

/// Makes the path look quick. A write would make the server look anew, so the document of the
/// health rule is small only where that rule is asked.
async fn poison(server: &Process, kind: &str, make: Make) -> Result<(), Failure> {
    let at = server.address;
    let size = |size: u32| request("PUT", "/v1/data/size", &size.to_string());
    let by_document = kind == BY_DOCUMENT;
    let before = if by_document { QUICK } else { ENDLESS };
    done(at, ATTACKER, &size(before)).await?;
    for _ in 0..5 {
        done(at, ATTACKER, &make(QUICK)).await?;
    }
    if by_document {
        done(at, ATTACKER, &size(ENDLESS)).await?;
    }
    Ok(())
}

/// Begins an evaluation and leaves. An answer is an error: it was no endless one.
async fn abandon(server: &Process, asked: &[u8], leave: Leave) -> Result<(), Failure> {
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
    client.send(asked).await?;
    match leave {
        Leave::Pipelined => client.send(&further).await?,
        Leave::Flooded => {
            // More than a server reads ahead, and less than its socket holds.
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
        // The first one may have come with the request itself.
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

/// Those whose clients wait for them are ended by their time, in every kind.
async fn timed(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let arguments = ["--evaluation-timeout", TIMEOUT];
    let mut server = harness.engine(&arguments, &[POLICY, HEALTH, MAIN]).await?;
    let size = request("PUT", "/v1/data/size", &ENDLESS.to_string());
    done(server.address, ATTACKER, &size).await?;
    for (kind, make) in KINDS {
        let mut client = Wire::connect(server.address, ATTACKER).await?;
        let before = server.cpu()?;
        client.send(&make(ENDLESS)).await?;
        let answer = client.answer().await;
        let taken = server.cpu()?.saturating_sub(before);
        let held = match answer {
            Ok(answer) if answer.status() != 500 => {
                Err(format!("{} {}", answer.status(), answer.text()))
            }
            Ok(_) if taken > TIMED => Err(format!("{taken:.1?} of the processors")),
            Ok(_) => Ok(()),
            Err(why) => Err(why.to_string()),
        };
        findings.succeed(&format!("{kind}, for {TIMEOUT} at most"), held);
    }
    findings.end(&mut server).await
}

/// Many at once, of every kind, whose clients stay: others must be answered meanwhile, and the
/// server must end while they run.
async fn together(findings: &mut Findings, server: &Process) -> Result<(), Failure> {
    for (kind, make) in KINDS.iter().rev() {
        poison(server, kind, *make).await?;
    }
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    for number in 0..MANY {
        let Some((_, make)) = KINDS.get(number % KINDS.len()) else {
            continue;
        };
        let (to, asked) = (server.address, make(ENDLESS));
        // How these end is not asked: at last by the end of the server.
        tokio::spawn(async move { ask(to, ATTACKER, &asked).await.ok() });
    }
    sleep(Duration::from_secs(3)).await;
    findings.watch(bystander.stop().await?);
    Ok(())
}
