//! Recursive discovery: a bundle that configures another discovery.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::attack::tenancy::eventually;
use crate::bundles::archive;
use crate::servers::{Failure, HANG_LIMIT, Message, Peer, PeerScript, exchange_ok, request};

/// Polling delay for the discovery bundle in the boot configuration, in seconds.
const DELAY: f64 = 0.1;

/// Number of changes of the bundle before the attack ends.
const TURNS: u64 = 40;

/// Number of bundles that each version of the discovery bundle configures.
const BUNDLES: usize = 50;

/// Limit of the server's peak memory, in MiB.
const MOST: u64 = 256;

/// Returns the discovery policy of a turn. Its configuration differs each time, points discovery at
/// itself and elsewhere, requests polling without a delay, and includes the engine's entire own
/// configuration.
fn policy(turn: u64) -> String {
    let bundles = (0..BUNDLES).map(|at| {
        let delays = json!({"min_delay_seconds": 3600, "max_delay_seconds": 3600});
        let source = json!({
            "service": "depot", "resource": format!("/gone/{turn}/{at}"), "polling": delays,
        });
        (format!("b{turn}-{at}"), source)
    });
    let bundles: serde_json::Map<_, _> = bundles.collect();
    let own = json!({
        "discovery": {
            "service": "depot", "resource": "/elsewhere", "decision": "again",
            "polling": {"min_delay_seconds": 0, "max_delay_seconds": 0},
        },
        "labels": {"turn": turn.to_string()},
        "bundles": bundles,
    });
    format!(
        "package again\n\nown := {own}\n\n\
         labels[name] := value if some name, value in own.labels\n\n\
         labels.before := json.marshal(opa.runtime().config)\n\n\
         discovery := own.discovery\n\nbundles := own.bundles\n"
    )
}

/// Numbers of requests to the bundle server.
#[derive(Debug, Default)]
struct BundleRequests {
    discovery: AtomicU64,
    elsewhere: AtomicU64,
}

impl BundleRequests {
    fn answer(&self, request: &Message) -> PeerScript {
        let path = request.first.split(' ').nth(1).unwrap_or_default();
        match path {
            "/bundles/discovery" | "/discovery" => {
                let turn = self.discovery.fetch_add(1, Ordering::Relaxed);
                match archive::packed(&[("again.rego", &policy(turn))]) {
                    Ok(bundle) => PeerScript::Answer(200, format!("ETag: \"{turn}\"\r\n"), bundle),
                    Err(_) => PeerScript::status(500),
                }
            }
            "/elsewhere" => {
                self.elsewhere.fetch_add(1, Ordering::Relaxed);
                PeerScript::status(404)
            }
            _ => PeerScript::status(404),
        }
    }
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let requests = Arc::new(BundleRequests::default());
    let counters = Arc::clone(&requests);
    let peer = Peer::start(0, move |message| {
        let response = counters.answer(&message);
        async move { response }
    });
    let peer = peer.await?;
    let config = json!({
        "services": {"depot": {"url": format!("http://{}", peer.address)}},
        "discovery": {
            "service": "depot", "resource": "/discovery", "decision": "again",
            "polling": {"min_delay_seconds": DELAY, "max_delay_seconds": DELAY},
        },
    });
    let file = harness.file("discovery.json", &config.to_string())?;
    let mut server = harness.engine(&["--config-file", &file], &[]).await?;
    let start = Instant::now();
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let turned = eventually("the turns", || {
        requests.discovery.load(Ordering::Relaxed) >= TURNS
    });
    findings.succeed("discovery", turned.await);
    // A slow machine polls less often; none polls more often than the boot configuration allows.
    let most = start.elapsed().as_secs_f64() / DELAY * 1.5 + 5.0;
    let turns = requests.discovery.load(Ordering::Relaxed);
    findings.check(
        format!("{turns} requests for the discovery bundle, at most {most:.0}"),
        turns as f64 <= most,
    );
    sleep(Duration::from_millis(300)).await;
    let elsewhere = requests.elsewhere.load(Ordering::Relaxed);
    findings.check(
        format!("{elsewhere} requests for a discovery that was discovered"),
        elsewhere == 0,
    );
    let reported = exchange_ok(server.address, ATTACKER, &request("GET", "/v1/config", "")).await?;
    let reported = reported.json();
    let at = |pointer: &str| reported.pointer(pointer).cloned().unwrap_or_default();
    findings.check(
        format!("the discovery is {}", at("/result/discovery")),
        at("/result/discovery/resource") == "/discovery",
    );
    let bundles = at("/result/bundles");
    let number = bundles.as_object().map_or(0, serde_json::Map::len);
    findings.check(
        format!("{number} bundles are configured"),
        number == BUNDLES,
    );
    // Discovered configuration is not an input of the next discovery, or it would grow each time.
    let before = at("/result/labels/before").to_string();
    findings.check(
        format!("the discovery sees {} bytes of configuration", before.len()),
        before.len() > 2 && before.len() < 2_000,
    );
    findings.watch_in_company(bystander.stop().await?);
    let rests = server.rests(HANG_LIMIT, 0.5).await?;
    findings.check("it does not come to rest", rests);
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    Ok(findings)
}
