//! Network partitions of three replicas on one PostgreSQL, during writes and builds.

mod writers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use self::writers::{WriterState, WrittenCounts, bundle, count, define, listen, object, write};
use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::storage::Storage;
use crate::attack::tenancy::{self, ControlPlane, eventually};
use crate::postgres::Postgres;
use crate::servers::{Failure, Proxy, ProxyMode};

/// Owners that write; each has a source and a few bundles of it.
const OWNERS: [&str; 2] = ["first", "second"];

const BUNDLES: usize = 5;

/// Number of replicas.
const REPLICAS: usize = 3;

/// Number of cuts without and with `--long`.
const CUTS: usize = 16;
const MANY_CUTS: usize = 120;

/// Duration of a long cut: longer than a lease, so that others take over the work of the
/// disconnected replica.
const LONG: Duration = Duration::from_secs(15);

/// Number of bundles that one owner builds while another needs only one.
const CROWD: usize = 60;

/// Delay of the source's response to each build of the crowd.
const SLOW: Duration = Duration::from_millis(700);

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let postgres = Postgres::start().map_err(|error| error.to_string())?;
    let (storage, written) = (Storage::new(), WrittenCounts::default());
    let peer = listen(&storage, &written).await?;
    let (mut planes, mut proxies) = (Vec::new(), Vec::new());
    for _ in 0..REPLICAS {
        let proxy = Proxy::start(postgres.address()).await?;
        let url = format!("postgres://postgres@{}/postgres", proxy.address);
        let arguments = ["--database", &url, "--allow-host", "127.0.0.1"];
        planes.push(tenancy::plane(harness, &arguments).await?);
        proxies.push(proxy);
    }
    let url = format!("http://{}", peer.address);
    let first = planes.first().ok_or("no replica")?;
    for owner in OWNERS {
        define(first.person(owner), owner, &url).await?;
    }
    let over = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for owner in OWNERS {
        let people = planes.iter().map(|plane| plane.person(owner)).collect();
        writers.spawn(write(owner, people, Arc::clone(&over)));
    }
    cut(harness, &proxies).await;
    over.store(true, Ordering::SeqCst);
    while let Some(ended) = writers.join_next().await {
        let (owner, known) = ended?;
        judge(&mut findings, &planes, &storage, owner, &known).await?;
    }
    older(&mut findings, &written);
    alone(&mut findings, &planes, &proxies, &storage).await?;
    fairness(&mut findings, &planes, &storage, &url).await?;
    for plane in &mut planes {
        findings.check_memory(&plane.process, 256)?;
        findings.end(&mut plane.process).await?;
    }
    Ok(findings)
}

/// Pseudo-random numbers with a fixed seed: Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Disconnects replicas from the database in every mode of the proxies.
async fn cut(harness: &Harness, proxies: &[Proxy]) {
    let mut chance = Random(0x9e37_79b9_7f4a_7c15);
    let cuts = if harness.long { MANY_CUTS } else { CUTS };
    let ways = [
        ProxyMode::Cut,
        ProxyMode::Blocked,
        ProxyMode::NothingTo,
        ProxyMode::NothingFrom,
        ProxyMode::Slow,
    ];
    for (at, mode) in ways.into_iter().cycle().take(cuts).enumerate() {
        sleep(Duration::from_millis(chance.below(700))).await;
        // At least one replica, and rarely all of them.
        let chosen = chance.below((1 << REPLICAS) - 1) + 1;
        let is_chosen = |replica: &usize| chosen >> replica & 1 == 1;
        let cut = || {
            proxies
                .iter()
                .enumerate()
                .filter(|(replica, _)| is_chosen(replica))
        };
        cut().for_each(|(_, proxy)| proxy.set(mode));
        let time = match at % 8 {
            7 => LONG,
            _ => Duration::from_millis(100 + chance.below(2_000)),
        };
        sleep(time).await;
        // A slow connection always has an unanswered request.
        let is_forgotten = mode == ProxyMode::Slow || chance.below(2) == 0;
        for (_, proxy) in cut() {
            if is_forgotten {
                proxy.forget();
            }
            proxy.set(ProxyMode::Open);
        }
    }
}

/// Compares a writer's acknowledged number with the number on every replica and in the storage.
async fn judge(
    findings: &mut Findings,
    planes: &[ControlPlane],
    storage: &Storage,
    owner: &'static str,
    known: &WriterState,
) -> Result<(), Failure> {
    findings.check(format!("{owner}: {:?}", known.wrong), known.wrong.is_none());
    findings.check(
        format!("{owner}: {known:?}"),
        known.acknowledged > 10 && known.refused > 0,
    );
    let path = format!("/v1/sources/{owner}-source/data/{owner}/count");
    let last = known.sent + 1;
    for (replica, plane) in planes.iter().enumerate() {
        // Silently dropped connections take a while to time out.
        let (mut status, mut response) = (503, Value::Null);
        for _ in 0..30 {
            (status, response) = plane.person(owner).send("GET", &path, &Value::Null).await?;
            if status != 503 {
                break;
            }
        }
        let stored = response.get("result").and_then(Value::as_u64).unwrap_or(0);
        findings.check(
            format!("{owner}: replica {replica} has {stored}, {status}, known is {known:?}"),
            (known.acknowledged..=known.sent).contains(&stored),
        );
    }
    for plane in planes {
        findings.succeed(owner, plane.person(owner).put(&path, json!(last)).await);
    }
    let names: Vec<_> = (0..BUNDLES).map(|at| format!("{owner}-{at}")).collect();
    let stored = || {
        names
            .iter()
            .map(|name| count(storage, name))
            .collect::<Vec<_>>()
    };
    let newest = eventually("the newest", || {
        stored().iter().all(|count| *count == Some(last))
    });
    findings.succeed(
        &format!("{owner}: {:?}, newest {last}", stored()),
        newest.await,
    );
    for (name, plane) in names.iter().zip(planes.iter().cycle()) {
        let status = plane
            .person(owner)
            .until_status(name, |response| response.contains("SUCCESS"));
        findings.succeed(name, status.await.map(drop));
    }
    Ok(())
}

/// Checks that an older object never replaced a newer one, as the storage honours conditions.
fn older(findings: &mut Findings, written: &WrittenCounts) {
    for (name, counts) in written
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        findings.check(
            format!("{name}: written were {counts:?}"),
            counts.is_sorted(),
        );
    }
}

/// Checks that each replica builds when only it reaches the database: none blocks forever, and each
/// takes over the work of the others.
async fn alone(
    findings: &mut Findings,
    planes: &[ControlPlane],
    proxies: &[Proxy],
    storage: &Storage,
) -> Result<(), Failure> {
    let [owner, _] = OWNERS;
    let path = format!("/v1/sources/{owner}-source/data/{owner}/count");
    for (replica, plane) in planes.iter().enumerate() {
        let others = || {
            proxies
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != replica)
        };
        others().for_each(|(_, proxy)| proxy.set(ProxyMode::Cut));
        let expected = (u64::MAX >> 13) + replica as u64;
        plane.person(owner).put(&path, json!(expected)).await?;
        let newest = eventually("the newest", || {
            (0..BUNDLES).all(|at| count(storage, &format!("{owner}-{at}")) == Some(expected))
        });
        findings.succeed(&format!("replica {replica} alone"), newest.await);
        others().for_each(|(_, proxy)| proxy.set(ProxyMode::Open));
    }
    Ok(())
}

/// Checks that an owner with one bundle does not wait for the many bundles of another.
async fn fairness(
    findings: &mut Findings,
    planes: &[ControlPlane],
    storage: &Storage,
    url: &str,
) -> Result<(), Failure> {
    let plane = planes.first().ok_or("no replica")?;
    let [one, other] = OWNERS;
    let crowd = plane.person(other);
    let source = json!({"datasources": [
        {"name": "slow", "path": "slow", "type": "http", "config": {"url": format!("{url}/source")}},
    ]});
    crowd.put("/v1/sources/slow", source).await?;
    for at in 0..CROWD {
        let name = format!("crowd-{at}");
        crowd
            .put(&format!("/v1/bundles/{name}"), bundle(&name, "slow", url))
            .await?;
    }
    let path = format!("/v1/sources/{one}-source/data/{one}/count");
    plane.person(one).put(&path, json!(u64::MAX >> 12)).await?;
    let is_built = || count(storage, &format!("{one}-0")) == Some(u64::MAX >> 12);
    findings.succeed("fairness", eventually("the one bundle", is_built).await);
    let built =
        || (0..CROWD).filter(|at| storage.object(&object(&format!("crowd-{at}"))).is_some());
    let before = built().count();
    findings.check(
        format!("all {before} of the crowd came before"),
        before < CROWD,
    );
    findings.succeed(
        "fairness",
        eventually("the crowd", || built().count() == CROWD).await,
    );
    Ok(())
}
