//! Compares generated calls of every built-in function with the real OPA.

mod call;
mod declared;
mod differences;
mod operands;
mod ours;
mod strings;
mod theirs;

use std::collections::BTreeMap;
use std::error::Error;

use clap::Args;
use proptest::prelude::Rng as _;
use proptest::test_runner::Config;
use rego_generate::Choices;

use self::call::Call;
use self::declared::Function;
use self::differences::Known;
use crate::servers::RestartingOpa;
use crate::{random_cases, report};

/// The command line.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many calls of each function
    #[arg(long, default_value_t = 2_000)]
    calls: usize,
    /// Seed of the random calls
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only the functions whose name contains this
    only: Option<String>,
}

/// The bytes that decide the operands of a call.
const BYTES: usize = 200;

/// So many calls are evaluated as one query.
const TOGETHER: usize = 50;

/// The answers of one side to calls: of each its value as JSON and as a literal, in a list that is
/// empty if it is undefined; or the error of the query.
type Outcome = Result<Vec<String>, String>;

/// Asks both sides for the same calls.
///
/// # Errors
/// Differences without a reason; OPA cannot be built or asked.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut opa = RestartingOpa::start(&[], None)?;
    let known = Known::read()?;
    let functions = declared::functions(opa.program())?;
    let is_chosen = |function: &&Function| {
        let only = options.only.as_deref();
        only.is_none_or(|part| function.name.contains(part))
    };
    let mut random = random_cases::runner(Config::default(), options.seed);
    let mut tally = Tally::default();
    for function in functions.iter().filter(is_chosen) {
        let before = tally.calls;
        let mut bytes = [0; BYTES];
        for _ in 0..options.calls.div_ceil(TOGETHER) {
            let calls = (0..TOGETHER).map(|_| {
                random.rng().fill_bytes(&mut bytes);
                Call::generate(function, &mut Choices::new(&bytes))
            });
            tally.compare(&mut opa, &known, &calls.collect::<Vec<_>>())?;
        }
        let calls = tally.calls - before;
        report("compared", &format!("{} ({calls} calls)", function.name));
    }
    tally.report();
    match tally.differences.len() {
        0 => Ok(()),
        count => Err(format!("{count} functions answer otherwise than OPA's").into()),
    }
}

#[derive(Debug, Default)]
struct Tally {
    calls: usize,
    defined: usize,
    explained: usize,
    /// By function: how many calls differ, and the shortest of them.
    differences: BTreeMap<String, (usize, String)>,
}

impl Tally {
    /// Compares calls all at once, and one by one where that shows a difference.
    fn compare(
        &mut self,
        opa: &mut RestartingOpa,
        known: &Known,
        calls: &[Call],
    ) -> Result<(), Box<dyn Error>> {
        let theirs = theirs::ask(opa, calls)?;
        let ours = ours::ask(calls);
        if theirs == ours && theirs.is_ok() {
            self.calls += calls.len();
            let answers = theirs.unwrap_or_default();
            self.defined += answers.iter().filter(|answer| *answer != "[] []").count();
            return Ok(());
        }
        if let [call] = calls {
            self.one(known, call, &ours, &theirs);
            return Ok(());
        }
        let (left, right) = calls.split_at(calls.len() / 2);
        self.compare(opa, known, left)?;
        self.compare(opa, known, right)
    }

    fn one(&mut self, known: &Known, call: &Call, ours: &Outcome, theirs: &Outcome) {
        self.calls += 1;
        if ours.is_err() && theirs.is_err() {
            return;
        }
        if known.explains(call, ours, theirs) {
            self.explained += 1;
            return;
        }
        let shown = |outcome: &Outcome| match outcome {
            Ok(answers) => answers.join(" "),
            Err(why) => format!("error: {why}"),
        };
        let text = format!("{call}\n  ours: {}\n  OPA:  {}", shown(ours), shown(theirs));
        let entry = self.differences.entry(call.function.clone());
        let (count, shortest) = entry.or_insert((0, text.clone()));
        *count += 1;
        if text.len() < shortest.len() {
            *shortest = text;
        }
    }

    fn report(&self) {
        for (count, shortest) in self.differences.values() {
            report("differ", &format!("{count} calls, such as {shortest}"));
        }
        let (calls, defined, explained) = (self.calls, self.defined, self.explained);
        report(
            "calls",
            &format!("{calls}, of which {defined} have a value; {explained} differ for a reason"),
        );
    }
}
