//! Compares the evaluator with regorus, its interpreter and its RVM, in turns in one process, and
//! fails when it is slower than the bounds allow. Goals that are missed are told.
//!
//! Arguments choose the cases whose names contain one of them. Behind `--profile` they choose
//! those that only ours answers for a while, to be watched by a profiler.

mod case;
mod goals;
mod threads;
mod turns;

use std::error::Error;
use std::io::{Write, stdout};
use std::process::ExitCode;

use crate::goals::Goals;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_profiled = wanted.first().is_some_and(|first| first == "--profile");
    if is_profiled {
        wanted.remove(0);
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part));
    let mut goals = Goals::default();
    for case in case::chosen(&is_wanted)? {
        if is_profiled {
            turns::repeat(&case)?;
            continue;
        }
        let times = turns::compare(&case)?;
        let gain = threads::gain(&case)?;
        writeln!(stdout(), "{}", goals.row(&case.name, &times, gain))?;
    }
    write!(stdout(), "{goals}")?;
    Ok(match goals.are_kept() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
