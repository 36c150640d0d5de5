//! Decisions over HTTP at sixteen connections.

use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use super::pair::Pair;
use super::{Bound, Wanted, load, median};
use crate::servers::Client;
use rego_generate::measured::ROLES;

const CONNECTIONS: usize = 16;
const WINDOW: Duration = Duration::from_secs(3);
/// Windows of each server, in turns, after one that warms up.
const ROUNDS: usize = 3;

/// Answers per second and the time that 99 of 100 answers keep.
pub(super) fn measure(pair: &mut Pair) -> Result<Vec<Bound>, Box<dyn Error>> {
    load(&mut pair.ours.client()?, &ROLES)?;
    load(&mut pair.opa.client()?, &ROLES)?;
    let (mut rates, mut tails) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let ours = window(pair.ours.address)?;
        let opa = window(pair.opa.address)?;
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
    rate: f64,
    tail: f64,
}

fn window(address: SocketAddr) -> Result<Window, Box<dyn Error>> {
    let begun = Instant::now();
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| thread::spawn(move || client(address).map_err(|why| why.to_string())))
        .collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client panicked")??);
    }
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let tail = times.get(times.len() * 99 / 100).copied();
    Ok(Window {
        rate,
        tail: tail.ok_or("no answer")?,
    })
}

/// Asks until the window closes; how long each answer took.
fn client(address: SocketAddr) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut client = Client::connect(address)?;
    let path = format!("/v1/data/{}/allow", ROLES.name);
    let request = Client::request("POST", &path, &ROLES.question());
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
