//! Throughput of two threads relative to one thread: with a shared policy and documents, and with
//! separate ones.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::turns::{Ours, median};

/// Duration of each turn of a measurement.
const TURN: Duration = Duration::from_millis(60);
/// Number of alternating turns after a warm-up turn.
const TURNS: usize = 9;
/// Number of decisions between two checks of the clock.
const ROUND: u32 = 16;

/// Throughput ratios of two threads that share a policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speedup {
    /// Throughput relative to one thread.
    pub(crate) beside_one: f64,
    /// Throughput relative to two threads that share nothing.
    pub(crate) beside_unshared: f64,
}

/// Measures the throughput ratios for a case.
///
/// # Errors
/// Errors of evaluations.
pub(crate) fn gain(case: &Case) -> Result<Speedup, Box<dyn Error>> {
    let (ours, other) = (Ours::prepare(case)?, Ours::prepare(case)?);
    let (mut beside_one, mut beside_unshared) = (Vec::new(), Vec::new());
    for turn in 0..=TURNS {
        let one = rate(&ours, case)?;
        let shared = both([&ours, &ours], case)?;
        let unshared = both([&ours, &other], case)?;
        if turn > 0 {
            beside_one.push(shared / one);
            beside_unshared.push(shared / unshared);
        }
    }
    Ok(Speedup {
        beside_one: median(beside_one),
        beside_unshared: median(beside_unshared),
    })
}

/// Returns the total decisions per second of two threads.
fn both([first, second]: [&Ours; 2], case: &Case) -> Result<f64, Box<dyn Error>> {
    thread::scope(|scope| {
        let second = scope.spawn(|| rate(second, case).map_err(|error| error.to_string()));
        let first = rate(first, case)?;
        let second = second.join().map_err(|_| "a thread panicked")??;
        Ok(first + second)
    })
}

/// Returns the decisions per second of one thread, whose input is a separate value like that of a
/// request.
fn rate(ours: &Ours, case: &Case) -> Result<f64, Box<dyn Error>> {
    let input = case.own_input()?;
    let start = Instant::now();
    ours.answer(&input)?;
    let round = if start.elapsed() < TURN / ROUND {
        ROUND
    } else {
        1
    };
    let mut decisions = 1;
    while start.elapsed() < TURN {
        for _ in 0..round {
            ours.answer(&input)?;
        }
        decisions += round;
    }
    Ok(f64::from(decisions) / start.elapsed().as_secs_f64())
}
