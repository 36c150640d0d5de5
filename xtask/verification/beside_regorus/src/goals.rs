//! Goals and limits of the measurements.

use std::fmt;

use crate::threads::Speedup;
use crate::turns::{Times, median};

/// Goal for each case: maximum ratio of our time to the RVM's.
const CASE: f64 = 0.8;
/// Goal for all cases: maximum geometric mean of the ratios of our time to the RVM's.
const MEAN: f64 = 0.33;
/// Goal for this case: maximum ratio of our time to the RVM's.
const NUMBERS: (&str, f64) = ("comprehension over 10,000 numbers", 0.35);
/// Goals for these cases: maximum time of one answer, in microseconds.
const TRIVIAL: (&str, f64) = ("trivial policy", 0.3);
const LOOKUP: (&str, f64) = ("keyed lookup", 5.0);

/// Goal: median speedup of two threads compared with one.
const THREADS: f64 = 1.9;
/// Goal and lower limit for two threads that share a policy: their throughput relative to two
/// threads that share nothing, which isolates the cost of sharing from the machine. The limit
/// allows for noise.
const SHARED: f64 = 0.95;
const SHARED_BOUND: f64 = 0.75;

/// Upper limits, which allow for noise: the ratio of our time to the interpreter's in each case,
/// and the geometric mean of the ratios to the RVM's time.
const CASE_BOUND: f64 = 1.1;
const MEAN_BOUND: f64 = 0.6;

/// Results of the cases measured so far.
#[derive(Debug, Default)]
pub(crate) struct Goals {
    ratios: Vec<f64>,
    gains: Vec<Speedup>,
    missed: Vec<String>,
    broken: Vec<String>,
}

impl Goals {
    /// Records the times of a case and the gain of a second thread; returns the row of the case for
    /// the table.
    pub(crate) fn row(&mut self, name: &str, times: &Times, gain: Speedup) -> String {
        let beside_rvm = times.ours / times.rvm;
        let beside_interpreter = times.ours / times.interpreter;
        let microseconds = times.ours * 1e6;
        self.ratios.push(beside_rvm);
        self.gains.push(gain);
        let most = if name == NUMBERS.0 { NUMBERS.1 } else { CASE };
        let mut goals = vec![(beside_rvm, most, "of the RVM")];
        for (beginning, most) in [TRIVIAL, LOOKUP] {
            if name.starts_with(beginning) {
                goals.push((microseconds, most, "us"));
            }
        }
        let mut text = format!(
            "{name:36} {microseconds:>10.2} us  {beside_rvm:.2} of the RVM  \
             {beside_interpreter:.2} of the interpreter  {:.2} times by two threads, {:.2} of \
             unshared",
            gain.beside_one, gain.beside_unshared
        );
        for (figure, most, unit) in goals {
            if figure > most {
                text.push_str(&format!("  missed: {most} {unit}"));
                self.missed
                    .push(format!("{name}: {figure:.2} {unit}, not {most}"));
            }
        }
        if beside_interpreter > CASE_BOUND {
            let broken = format!("{name}: {beside_interpreter:.2} of the interpreter");
            self.broken.push(broken);
        }
        text
    }

    /// Geometric mean of the ratios of our time to the RVM's.
    fn mean(&self) -> f64 {
        let sum: f64 = self.ratios.iter().map(|ratio| ratio.ln()).sum();
        (sum / self.ratios.len() as f64).exp()
    }

    /// Median gains of two threads over all cases.
    fn gain(&self) -> Speedup {
        let middle = |of: fn(&Speedup) -> f64| median(self.gains.iter().map(of).collect());
        Speedup {
            beside_one: middle(|gain| gain.beside_one),
            beside_unshared: middle(|gain| gain.beside_unshared),
        }
    }

    /// Whether every measurement is within its limit.
    pub(crate) fn are_kept(&self) -> bool {
        let is_fine = || self.mean() <= MEAN_BOUND && self.gain().beside_unshared >= SHARED_BOUND;
        self.broken.is_empty() && (self.ratios.is_empty() || is_fine())
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ratios.is_empty() {
            return Ok(());
        }
        let (mean, cases) = (self.mean(), self.ratios.len());
        let missed = if mean > MEAN { "  missed" } else { "" };
        writeln!(
            f,
            "geometric mean of {cases}: {mean:.2} of the RVM (goal {MEAN}, at most {MEAN_BOUND}){missed}"
        )?;
        let Speedup {
            beside_one,
            beside_unshared,
        } = self.gain();
        let missed = if beside_one < THREADS || beside_unshared < SHARED {
            "  missed"
        } else {
            ""
        };
        writeln!(
            f,
            "two threads: {beside_one:.2} times one (goal {THREADS}), {beside_unshared:.2} of two \
             that share nothing (goal {SHARED}, at least {SHARED_BOUND}){missed}"
        )?;
        for missed in &self.missed {
            writeln!(f, "missed: {missed}")?;
        }
        for broken in &self.broken {
            writeln!(f, "out of bounds: {broken} (at most {CASE_BOUND})")?;
        }
        Ok(())
    }
}
