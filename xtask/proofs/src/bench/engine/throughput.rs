//! Decisions over HTTP.

use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use super::bare::Bare;
use super::pair::Pair;
use super::{Bound, Wanted, load, median};
use crate::servers::Client;
use rego_generate::measured::ROLES;

const CONNECTIONS: usize = 16;
const WINDOW: Duration = Duration::from_secs(3);

/// The connections at which our server stands beside one that only speaks HTTP, and the part of
/// its answers per second that is to be reached. The goal is 0.8; a busy machine takes some of it.
const BESIDE_BARE: [(usize, f64); 3] = [(1, 0.6), (16, 0.45), (64, 0.45)];

/// What our 99th percentile may be of that server's. The goal is 2.
const TAIL: f64 = 3.0;

/// What an answer may take of the processors when two threads answer, to what it takes when one
/// does. Nothing is to be lost to what threads share but a twentieth, and noise.
const SHARED: f64 = 1.6;

/// Windows of each server, in turns, after one that warms up.
const ROUNDS: usize = 3;

/// Answers per second and the time that 99 of 100 answers keep.
pub(super) fn measure(pair: &mut Pair) -> Result<Vec<Bound>, Box<dyn Error>> {
    load(&mut pair.ours.client()?, &ROLES)?;
    load(&mut pair.opa.client()?, &ROLES)?;
    let (mut rates, mut tails) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let ours = window(pair.ours.address, CONNECTIONS)?;
        let opa = window(pair.opa.address, CONNECTIONS)?;
        if round > 0 {
            rates.push(ours.rate / opa.rate);
            tails.push(ours.tail / opa.tail);
        }
    }
    let rate = median(&mut rates);
    let tail = median(&mut tails);
    Ok(vec![
        Bound::new("throughput, ours to OPA", rate, Wanted::AtLeast(3.0)),
        Bound::new(
            "99th percentile, ours to OPA",
            tail,
            Wanted::AtMost(1.0 / 3.0),
        ),
    ])
}

struct Window {
    answers: f64,
    rate: f64,
    tail: f64,
}

/// Answers per second beside a server that gives the same bytes for nothing.
pub(super) fn beside_bare(pair: &mut Pair) -> Result<Vec<Bound>, Box<dyn Error>> {
    let mut client = pair.ours.client()?;
    load(&mut client, &ROLES)?;
    client.exchange(&question())?;
    let bare = Bare::start(client.body())?;
    let mut bounds = Vec::new();
    for (connections, least) in BESIDE_BARE {
        let (mut rates, mut tails) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let ours = window(pair.ours.address, connections)?;
            let bare = window(bare.address, connections)?;
            if round > 0 {
                rates.push(ours.rate / bare.rate);
                tails.push(ours.tail / bare.tail);
            }
        }
        let what = format!("answers per second, {connections} connections, ours to bare HTTP");
        bounds.push(Bound::new(what, median(&mut rates), Wanted::AtLeast(least)));
        let what = format!("99th percentile, {connections} connections, ours to bare HTTP");
        bounds.push(Bound::new(what, median(&mut tails), Wanted::AtMost(TAIL)));
    }
    Ok(bounds)
}

/// What an answer takes of the processors when each of two threads has a connection, to what it
/// takes when one thread has one. How many answers there are would say less: whoever asks needs the
/// processors, too.
pub(super) fn two_threads(pair: &mut Pair) -> Result<Bound, Box<dyn Error>> {
    load(&mut pair.ours.client()?, &ROLES)?;
    let mut ratios = Vec::new();
    for round in 0..=ROUNDS {
        let (one, two) = (cost(pair, 1)?, cost(pair, 2)?);
        if round > 0 {
            ratios.push(two / one);
        }
    }
    let what = "processor time of an answer, two threads to one";
    Ok(Bound::new(
        what,
        median(&mut ratios),
        Wanted::AtMost(SHARED),
    ))
}

/// The processor time of an answer, in seconds.
fn cost(pair: &Pair, connections: usize) -> Result<f64, Box<dyn Error>> {
    let before = pair.ours.cpu()?;
    let window = window(pair.ours.address, connections)?;
    let spent = pair.ours.cpu()?.saturating_sub(before);
    Ok(spent.as_secs_f64() / window.answers)
}

fn window(address: SocketAddr, connections: usize) -> Result<Window, Box<dyn Error>> {
    let begun = Instant::now();
    let clients: Vec<_> = (0..connections)
        .map(|_| thread::spawn(move || client(address).map_err(|why| why.to_string())))
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client panicked")??);
    }
    let answers = times.len() as f64;
    let rate = answers / begun.elapsed().as_secs_f64();
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

/// Asks until the window closes; how long each answer took.
fn client(address: SocketAddr) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut client = Client::connect(address)?;
    let request = question();
    let mut times = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < WINDOW {
        let asked = Instant::now();
        if client.exchange(&request)? != 200 {
            return Err("a decision failed".into());
        }
        times.push(asked.elapsed().as_secs_f64());
    }
    Ok(times)
}
