//! Health monitor: a steady client, from another address and on its own thread, that records the
//! latency of every response during an attack.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::servers::{Failure, HANG_LIMIT, Message, Wire, request, request_with, within};

/// The bystander's address; attackers come from others.
pub(super) const BYSTANDER: [u8; 4] = [127, 0, 0, 2];

/// How many times as long as in a calm moment just before it 99 of 100 answers may take during an
/// attack. The attackers' own share of the processors is in it: they run on the same machine.
const FACTOR: f64 = 10.0;

/// What they may take in any case, in milliseconds. An answer needs a processor a few times, and waits
/// each time until those before it have had their turn, of some milliseconds each; so the few answers of
/// a calm moment say little of what lies below. A server that lets an attack hold its threads makes
/// others wait for seconds.
const FLOOR: f64 = 125.0;

/// The same of a decision, for which others' evaluations may have to be ended first.
const DECISION_FLOOR: f64 = 5_000.0;

/// How long the calm moment is.
const CALM: Duration = Duration::from_millis(600);

/// Between two requests of one probe.
const PAUSE: Duration = Duration::from_millis(10);

/// What one probe asks.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    name: &'static str,
    request: Vec<u8>,
    /// What an answer with 200 must hold.
    holds: &'static str,
    /// Whether each request has a connection of its own.
    fresh: bool,
    /// Whether its time is bounded as that of health is; a decision may also be put off with 503.
    bounded: bool,
}

/// What the bystander saw.
#[derive(Debug, Clone, Default)]
pub(super) struct HealthSamples {
    /// The 99th percentile of bounded probes before the attack, in milliseconds.
    pub(super) calm: f64,
    /// The same during the attack.
    pub(super) tail: f64,
    /// The longest.
    pub(super) longest: f64,
    /// The 99th percentile of quick decisions before the attack, and during it.
    pub(super) calm_decision: f64,
    pub(super) decision: f64,
    /// What was not answered, or wrongly.
    pub(super) failures: Vec<String>,
}

impl HealthSamples {
    /// What the tail is held against while so many attacks are played, in milliseconds.
    pub(super) fn bound(&self, attacks: f64) -> f64 {
        (FLOOR * attacks).max(FACTOR * self.calm)
    }

    /// The same of the tail of decisions.
    pub(super) fn decision_bound(&self, attacks: f64) -> f64 {
        (DECISION_FLOOR * attacks).max(FACTOR * self.calm_decision)
    }
}

/// A running bystander.
#[derive(Debug)]
pub(super) struct HealthMonitor {
    phase: Arc<AtomicU8>,
    thread: JoinHandle<io::Result<Vec<Sample>>>,
}

/// The phases.
const BEFORE: u8 = 0;
const DURING: u8 = 1;
const OVER: u8 = 2;

#[derive(Debug)]
struct Sample {
    during: bool,
    bounded: bool,
    milliseconds: f64,
    failure: Option<String>,
}

/// What an engine is asked: its health on new connections, its metrics, and the decision of
/// [`CALM_POLICY`], with this token if there is one.
pub(super) fn engine(token: Option<&str>) -> Vec<Probe> {
    let held = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let get = |path| request_with("GET", path, &held, b"");
    let decision = br#"{"input": {"user": "ann"}}"#;
    vec![
        Probe {
            name: "GET /health",
            request: get("/health"),
            holds: "{}",
            fresh: true,
            bounded: true,
        },
        Probe {
            name: "GET /metrics",
            request: get("/metrics"),
            holds: "",
            fresh: false,
            bounded: true,
        },
        Probe {
            name: "POST /v1/data/calm/allow",
            request: request_with("POST", "/v1/data/calm/allow", &held, decision),
            holds: "\"result\":true",
            fresh: false,
            bounded: false,
        },
    ]
}

/// The policy of the quick decision.
pub(super) const CALM_POLICY: (&str, &str) = (
    "calm.rego",
    "package calm\n\nallow if input.user == \"ann\"\n",
);

/// What a control plane is asked: its health on new connections, and its metrics.
pub(super) fn control() -> Vec<Probe> {
    [("GET /health", true), ("GET /metrics", false)]
        .map(|(name, fresh)| Probe {
            name,
            request: request("GET", name.trim_start_matches("GET "), ""),
            holds: "",
            fresh,
            bounded: true,
        })
        .into()
}

impl HealthMonitor {
    /// Begins to ask, and sees how the server is while nothing happens.
    pub(super) async fn start(to: SocketAddr, probes: Vec<Probe>) -> Self {
        let phase = Arc::new(AtomicU8::new(BEFORE));
        let seen = Arc::clone(&phase);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            Ok(runtime.block_on(ask_all(to, probes, &seen)))
        });
        sleep(CALM).await;
        phase.store(DURING, Ordering::SeqCst);
        Self { phase, thread }
    }

    /// Ends, and says what it saw.
    ///
    /// # Errors
    /// When it could not ask at all.
    pub(super) async fn stop(self) -> Result<HealthSamples, Failure> {
        self.phase.store(OVER, Ordering::SeqCst);
        let thread = self.thread;
        let joined = tokio::task::spawn_blocking(move || thread.join()).await?;
        let samples = joined.map_err(|_| "the bystander panicked")??;
        let tail = |during: bool, bounded: bool| {
            let chosen = samples
                .iter()
                .filter(|sample| sample.during == during && sample.bounded == bounded);
            let mut times: Vec<f64> = chosen.map(|sample| sample.milliseconds).collect();
            times.sort_by(f64::total_cmp);
            let at = (times.len() * 99 / 100).min(times.len().saturating_sub(1));
            (
                times.get(at).copied().unwrap_or(0.0),
                times.last().copied().unwrap_or(0.0),
            )
        };
        let (during, longest) = tail(true, true);
        let failures = samples.iter().filter_map(|sample| sample.failure.clone());
        Ok(HealthSamples {
            calm: tail(false, true).0,
            tail: during,
            longest,
            calm_decision: tail(false, false).0,
            decision: tail(true, false).0,
            failures: failures.take(3).collect(),
        })
    }
}

async fn ask_all(to: SocketAddr, probes: Vec<Probe>, phase: &AtomicU8) -> Vec<Sample> {
    let asking = probes.into_iter().map(|probe| steady(to, probe, phase));
    let samples = futures_util::future::join_all(asking).await;
    samples.into_iter().flatten().collect()
}

/// Asks one thing until it is over.
async fn steady(to: SocketAddr, probe: Probe, phase: &AtomicU8) -> Vec<Sample> {
    let (mut samples, mut kept) = (Vec::new(), None);
    loop {
        let now = phase.load(Ordering::SeqCst);
        if now == OVER {
            return samples;
        }
        let begun = Instant::now();
        let outcome = within(HANG_LIMIT, once(to, &probe, &mut kept)).await;
        let failure = match &outcome {
            Ok(answer) => judge(&probe, answer),
            Err(failure) => Some(format!("{}: {failure}", probe.name)),
        };
        if failure.is_some() {
            kept = None;
        }
        samples.push(Sample {
            during: now == DURING,
            bounded: probe.bounded,
            milliseconds: begun.elapsed().as_secs_f64() * 1e3,
            failure,
        });
        sleep(PAUSE).await;
    }
}

/// One request. A connection that was kept may have been closed meanwhile, as any client knows.
async fn once(to: SocketAddr, probe: &Probe, kept: &mut Option<Wire>) -> io::Result<Message> {
    if let Some(mut wire) = kept.take()
        && let Ok(answer) = wire.ask(&probe.request).await
    {
        *kept = Some(wire);
        return Ok(answer);
    }
    let mut wire = Wire::connect(to, BYSTANDER).await?;
    let answer = wire.ask(&probe.request).await?;
    if !probe.fresh {
        *kept = Some(wire);
    }
    Ok(answer)
}

/// What is wrong with an answer.
fn judge(probe: &Probe, answer: &Message) -> Option<String> {
    let text = answer.text();
    let held = match answer.status() {
        200 => text.contains(probe.holds),
        503 => !probe.bounded && answer.header("retry-after").is_some(),
        _ => false,
    };
    let said: String = text.chars().take(80).collect();
    (!held).then(|| format!("{}: {} {said}", probe.name, answer.status()))
}
