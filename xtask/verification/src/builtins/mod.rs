//! Compares generated calls of every built-in function with the real OPA.

mod answers;
mod call;
mod declared;
mod differences;
mod formats;
mod languages;
mod operands;
mod ours;
mod page;
mod record;
mod schema_words;
mod schemas;
mod shrink;
mod sides;
mod strings;
mod tally;
mod templates;
mod theirs;

use std::error::Error;

use clap::Args;
use proptest::prelude::Rng as _;
use proptest::test_runner::Config;

use self::call::Call;
use self::declared::Function;
use self::sides::Sides;
use self::tally::Counts;
use crate::{random_cases, report};

/// Command-line options of `builtins`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many calls of each function
    #[arg(long, default_value_t = 2_000)]
    calls: usize,
    /// Seed of the random calls
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write the page about functions, and answers of OPA to the table that the tests of the evaluator
    /// read
    #[arg(long)]
    bless: bool,
    /// Only the functions whose name contains this
    only: Option<String>,
}

/// Number of random bytes per call.
const BYTES: usize = 400;

/// Number of calls in one query.
const BATCH: usize = 50;

/// Evaluates generated calls of each selected function with our evaluator and with OPA, and
/// compares the results.
///
/// # Errors
/// When a difference has no known reason, or OPA cannot be built or queried.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut sides = Sides::start()?;
    let functions = declared::functions(sides.program())?;
    if options.bless {
        page::write(sides.known())?;
        return record::write(&mut sides, &functions, options.seed);
    }
    let is_chosen = |function: &&Function| {
        let only = options.only.as_deref();
        only.is_none_or(|part| function.name.contains(part))
    };
    let mut tally = Counts::default();
    for function in functions.iter().filter(is_chosen) {
        for batch in calls(function, options.seed, options.calls).chunks(BATCH) {
            tally.compare(&mut sides, function, batch)?;
        }
        tally.end_function(&mut sides, function)?;
    }
    tally.report(&sides);
    match tally.functions_that_differ() {
        0 => Ok(()),
        count => Err(format!("{count} functions answer otherwise than OPA's").into()),
    }
}

/// Generates calls of a function, which are the same for the same function name and seed.
fn calls(function: &Function, seed: u64, count: usize) -> Vec<Call> {
    let of_name = function.name.bytes().fold(seed, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut random = random_cases::runner(Config::default(), of_name);
    let call = |_| {
        let mut bytes = vec![0; BYTES];
        random.rng().fill_bytes(&mut bytes);
        Call::generate(function, bytes)
    };
    let calls: Vec<Call> = (0..count).map(call).collect();
    report("comparing", &format!("{} ({count} calls)", function.name));
    calls
}
