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

/// Source address of the health monitor; attackers use others.
pub(super) const BYSTANDER: [u8; 4] = [127, 0, 0, 2];

/// Maximum ratio of the 99th percentile of latencies during an attack to that of a calm moment just
/// before it. The attackers run on the same machine, so their CPU time counts too.
const FACTOR: f64 = 10.0;

/// Latency that is always allowed, in milliseconds. A response needs a processor a few times, and
/// waits each time for a scheduler slice of some milliseconds; so the few samples of a calm moment
/// say little about lower bounds. A server that lets an attack block its threads delays others by
/// seconds.
const FLOOR: f64 = 125.0;

/// Latency of a decision that is always allowed, in milliseconds. Other clients' evaluations may
/// have to be cancelled first.
const DECISION_FLOOR: f64 = 5_000.0;

/// Duration of the calm moment.
const CALM: Duration = Duration::from_millis(600);

/// Pause between two requests of one probe.
const PAUSE: Duration = Duration::from_millis(10);

/// Request that the monitor repeats.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    name: &'static str,
    request: Vec<u8>,
    /// Substring that a response with status 200 must contain.
    holds: &'static str,
    /// Whether each request uses a new connection.
    fresh: bool,
    /// Whether the bound for the latency of health requests applies; other probes may also get 503
    /// with `Retry-After`.
    bounded: bool,
}

/// Latencies and failures that the monitor recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct HealthSamples {
    /// The 99th percentile of the latency of bounded probes before the attack, in milliseconds.
    pub(super) calm: f64,
    /// The 99th percentile of the latency of bounded probes during the attack, in milliseconds.
    pub(super) tail: f64,
    /// The longest latency of bounded probes during the attack, in milliseconds.
    pub(super) longest: f64,
    /// The 99th percentiles of quick decisions before and during the attack, in milliseconds.
    pub(super) calm_decision: f64,
    pub(super) decision: f64,
    /// Messages about missing and wrong responses.
    pub(super) failures: Vec<String>,
}

impl HealthSamples {
    /// Returns the bound of the 99th percentile while this number of attacks runs, in milliseconds.
    pub(super) fn bound(&self, attacks: f64) -> f64 {
        (FLOOR * attacks).max(FACTOR * self.calm)
    }

    /// Returns the bound of the 99th percentile of decisions while this number of attacks runs, in
    /// milliseconds.
    pub(super) fn decision_bound(&self, attacks: f64) -> f64 {
        (DECISION_FLOOR * attacks).max(FACTOR * self.calm_decision)
    }
}

/// Running health monitor.
#[derive(Debug)]
pub(super) struct HealthMonitor {
    phase: Arc<AtomicU8>,
    thread: JoinHandle<io::Result<Vec<Sample>>>,
}

/// Phases of the monitor.
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

/// Probes for an engine: its health on new connections, its metrics, and the decision of
/// [`CALM_POLICY`], with this bearer token if there is one.
pub(super) fn engine(token: Option<&str>) -> Vec<Probe> {
    let authorization = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let get = |path| request_with("GET", path, &authorization, b"");
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
            request: request_with("POST", "/v1/data/calm/allow", &authorization, decision),
            holds: "\"result\":true",
            fresh: false,
            bounded: false,
        },
    ]
}

/// Policy of the quick decision that the monitor requests.
pub(super) const CALM_POLICY: (&str, &str) = (
    "calm.rego",
    "package calm\n\nallow if input.user == \"ann\"\n",
);

/// Probes for a control plane: its health on new connections, and its metrics.
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
    /// Starts the probes, and samples the server before the attack for the calm moment.
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

    /// Stops the probes and returns the samples.
    ///
    /// # Errors
    /// When the monitor could not run.
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

/// Repeats one probe until the monitor is stopped.
async fn steady(to: SocketAddr, probe: Probe, phase: &AtomicU8) -> Vec<Sample> {
    let (mut samples, mut idle_connection) = (Vec::new(), None);
    loop {
        let now = phase.load(Ordering::SeqCst);
        if now == OVER {
            return samples;
        }
        let start = Instant::now();
        let outcome = within(HANG_LIMIT, once(to, &probe, &mut idle_connection)).await;
        let failure = match &outcome {
            Ok(answer) => judge(&probe, answer),
            Err(failure) => Some(format!("{}: {failure}", probe.name)),
        };
        if failure.is_some() {
            idle_connection = None;
        }
        samples.push(Sample {
            during: now == DURING,
            bounded: probe.bounded,
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
            failure,
        });
        sleep(PAUSE).await;
    }
}

/// Sends one request of a probe; opens a new connection if the server has closed the idle one.
async fn once(
    to: SocketAddr,
    probe: &Probe,
    idle_connection: &mut Option<Wire>,
) -> io::Result<Message> {
    if let Some(mut wire) = idle_connection.take()
        && let Ok(answer) = wire.exchange(&probe.request).await
    {
        *idle_connection = Some(wire);
        return Ok(answer);
    }
    let mut wire = Wire::connect(to, BYSTANDER).await?;
    let answer = wire.exchange(&probe.request).await?;
    if !probe.fresh {
        *idle_connection = Some(wire);
    }
    Ok(answer)
}

/// Returns a message about the error in a response, if there is one.
fn judge(probe: &Probe, answer: &Message) -> Option<String> {
    let text = answer.text();
    let is_expected = match answer.status() {
        200 => text.contains(probe.holds),
        503 => !probe.bounded && answer.header("retry-after").is_some(),
        _ => false,
    };
    let excerpt: String = text.chars().take(80).collect();
    (!is_expected).then(|| format!("{}: {} {excerpt}", probe.name, answer.status()))
}
