//! Throughput of decisions over HTTP.

use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use super::hyper_baseline::HyperBaseline;
use super::side_by_side::SideBySide;
use super::{Bound, Limit, load, median, processors};
use crate::servers::{Client, Server};
use rego_generate::measured::ROLES;

const CONNECTIONS: usize = 16;
const WINDOW: Duration = Duration::from_secs(3);

/// Comparison with a server that only speaks HTTP.
struct BaselineComparison {
    label: &'static str,
    connections: usize,
    /// Whether both servers and the client share a processor.
    on_one: bool,
    /// Minimum ratio of our responses per second to those of the HTTP-only server.
    least: f64,
}

/// Goal of the ratio of our responses per second to those of the HTTP-only server.
const RATE: f64 = 0.8;

/// Measured conditions. A busy machine reduces the ratio, and with one connection on two processors
/// each response waits for a processor to wake up, see [`processors`].
const BESIDE_BARE: [BaselineComparison; 4] = [
    BaselineComparison {
        label: "1 connection on one processor",
        connections: 1,
        on_one: true,
        least: 0.6,
    },
    BaselineComparison {
        label: "1 connection",
        connections: 1,
        on_one: false,
        least: 0.4,
    },
    BaselineComparison {
        label: "16 connections",
        connections: 16,
        on_one: false,
        least: 0.45,
    },
    BaselineComparison {
        label: "64 connections",
        connections: 64,
        on_one: false,
        least: 0.45,
    },
];

/// Goal and maximum of the ratio of our 99th percentile of latencies to that of the HTTP-only
/// server.
const TAIL: [f64; 2] = [2.0, 3.0];

/// Goal and maximum of the ratio of the CPU time per response with two threads to that with one
/// thread. Sharing should cost at most a twentieth; the maximum allows for noise.
const SHARED: [f64; 2] = [1.05, 1.6];

/// Number of measurement windows of each server, in turns, after a warm-up window.
const ROUNDS: usize = 5;

/// Measures the ratios of our responses per second and 99th percentiles to those of a peer.
pub(super) fn measure(pair: &SideBySide) -> Result<Vec<Bound>, Box<dyn Error>> {
    load(&mut pair.ours.client()?, &ROLES)?;
    load(&mut pair.theirs.client()?, &ROLES)?;
    let (mut rates, mut tails) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let ours = window(pair.ours.address, CONNECTIONS)?;
        let theirs = window(pair.theirs.address, CONNECTIONS)?;
        if round > 0 {
            rates.push(ours.rate / theirs.rate);
            tails.push(ours.tail / theirs.tail);
        }
    }
    let rate = median(&mut rates);
    let tail = median(&mut tails);
    let name = pair.peer.name;
    Ok(vec![
        Bound::new(
            format!("throughput, ours to {name}"),
            rate,
            Limit::AtLeast(pair.peer.throughput),
        ),
        Bound::new(
            format!("99th percentile, ours to {name}"),
            tail,
            Limit::AtMost(1.0 / 3.0),
        ),
    ])
}

struct Window {
    answers: f64,
    rate: f64,
    tail: f64,
}

/// Measures our responses per second relative to a server that sends the same bytes without
/// computing them.
pub(super) fn beside_bare(ours: &Server) -> Result<Vec<Bound>, Box<dyn Error>> {
    let mut client = ours.client()?;
    load(&mut client, &ROLES)?;
    client.exchange(&question())?;
    let baseline = HyperBaseline::start(client.body())?;
    let mut bounds = Vec::new();
    for comparison in BESIDE_BARE {
        let (mut rates, mut tails) = if comparison.on_one {
            processors::on_one(ours.id(), || in_turns(ours, &baseline, &comparison))?
        } else {
            in_turns(ours, &baseline, &comparison)?
        };
        let what = format!(
            "answers per second, {}, ours to bare HTTP",
            comparison.label
        );
        let least = Limit::AtLeast(comparison.least);
        bounds.push(Bound::new(what, median(&mut rates), least).towards(RATE));
        let what = format!("99th percentile, {}, ours to bare HTTP", comparison.label);
        let [goal, most] = TAIL;
        bounds.push(Bound::new(what, median(&mut tails), Limit::AtMost(most)).towards(goal));
    }
    Ok(bounds)
}

/// Measures both servers in turns; returns the ratios of our responses per second and 99th
/// percentiles to those of the HTTP-only server.
fn in_turns(
    server: &Server,
    baseline: &HyperBaseline,
    comparison: &BaselineComparison,
) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let (mut rates, mut tails) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let ours = window(server.address, comparison.connections)?;
        let baseline = window(baseline.address, comparison.connections)?;
        if round > 0 {
            rates.push(ours.rate / baseline.rate);
            tails.push(ours.tail / baseline.tail);
        }
    }
    Ok((rates, tails))
}

/// Measures the ratio of the user CPU time per response with two threads, each with its own
/// connection and processor, to that with one thread. The number of responses would be less
/// precise, because the client needs the processors too, and so would system time, most of which is
/// spent on waking processors.
pub(super) fn two_threads(ours: &Server) -> Result<Bound, Box<dyn Error>> {
    load(&mut ours.client()?, &ROLES)?;
    let mut ratios = Vec::new();
    for round in 0..=ROUNDS {
        let one = processors::on_one(ours.id(), || cost(ours, 1))?;
        let two = cost(ours, 2)?;
        if round > 0 {
            ratios.push(two / one);
        }
    }
    let what = "own processor time of an answer, two threads to one";
    let [goal, most] = SHARED;
    Ok(Bound::new(what, median(&mut ratios), Limit::AtMost(most)).towards(goal))
}

/// Returns the server's user CPU time per response, in seconds, with this number of connections.
fn cost(server: &Server, connections: usize) -> Result<f64, Box<dyn Error>> {
    let before = server.own_time()?;
    let window = window(server.address, connections)?;
    let spent = server.own_time()?.saturating_sub(before);
    Ok(spent.as_secs_f64() / window.answers)
}

fn window(address: SocketAddr, connections: usize) -> Result<Window, Box<dyn Error>> {
    let start = Instant::now();
    let clients: Vec<_> = (0..connections)
        .map(|_| thread::spawn(move || client(address).map_err(|error| error.to_string())))
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client panicked")??);
    }
    let answers = times.len() as f64;
    let rate = answers / start.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let tail = times.get(times.len() * 99 / 100).copied();
    Ok(Window {
        answers,
        rate,
        tail: tail.ok_or("no answer")?,
    })
}

fn question() -> Vec<u8> {
    let path = format!("/v1/data/{}/allow", ROLES.name);
    Client::request("POST", &path, &ROLES.question())
}

/// Sends requests until the window closes; returns the latency of each, in seconds.
fn client(address: SocketAddr) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut client = Client::connect(address)?;
    let request = question();
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < WINDOW {
        let sent_at = Instant::now();
        if client.exchange(&request)? != 200 {
            return Err("a decision failed".into());
        }
        times.push(sent_at.elapsed().as_secs_f64());
    }
    Ok(times)
}
