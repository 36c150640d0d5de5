//! Compares the evaluator with regorus, its interpreter and its RVM, in turns in one process. Fails
//! if the evaluator is slower than the limits allow, and reports missed goals.
//!
//! Arguments select the cases whose names contain one of them. With `--profile` only our evaluator
//! runs them for a while, for a profiler. `--cedar` and `--eopa` name source folders whose
//! published policies are cases, too.

mod case;
mod goals;
mod published;
mod threads;
mod turns;

use std::error::Error;
use std::io::{Write, stdout};
use std::process::ExitCode;

use crate::case::Choice;
use crate::goals::Goals;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let choice = Choice::read(std::env::args().skip(1))?;
    let mut goals = Goals::default();
    for case in choice.cases()? {
        if choice.is_profiled {
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
