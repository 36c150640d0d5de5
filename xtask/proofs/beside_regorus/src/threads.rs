//! How much two threads decide in the time of one, with the same policy and documents.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::turns::{Ours, median};

/// A turn of each.
const TURN: Duration = Duration::from_millis(100);
/// Turns, one thread and two in alternation, after the first.
const TURNS: usize = 9;
/// Decisions between two looks at the clock.
const ROUND: u32 = 16;

/// The decisions of two threads in the time that one of them needs for one.
///
/// # Errors
/// What fails in an evaluation.
pub(crate) fn gain(case: &Case) -> Result<f64, Box<dyn Error>> {
    let ours = Ours::prepare(case)?;
    let mut gains = Vec::new();
    for turn in 0..=TURNS {
        let one = rate(&ours)?;
        let two = thread::scope(|scope| {
            let other = scope.spawn(|| rate(&ours).map_err(|why| why.to_string()));
            let first = rate(&ours)?;
            let other = other.join().map_err(|_| "a thread panicked")??;
            Ok::<f64, Box<dyn Error>>(first + other)
        })?;
        if turn > 0 {
            gains.push(two / one);
        }
    }
    Ok(median(gains))
}

/// The decisions of a thread, per second.
fn rate(ours: &Ours) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    let mut decisions = 0_u32;
    while begun.elapsed() < TURN {
        for _ in 0..ROUND {
            ours.answer()?;
        }
        decisions += ROUND;
    }
    Ok(f64::from(decisions) / begun.elapsed().as_secs_f64())
}
