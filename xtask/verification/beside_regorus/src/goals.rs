//! Goals and bounds of the figures.

use std::fmt;

use crate::threads::Gain;
use crate::turns::{Times, median};

/// No case should take more of the RVM's time.
const CASE: f64 = 0.8;
/// Nor should all of them, as the geometric mean.
const MEAN: f64 = 0.33;
/// Nor this case.
const NUMBERS: (&str, f64) = ("comprehension over 10,000 numbers", 0.35);
/// Nor should these take longer, in microseconds.
const TRIVIAL: (&str, f64) = ("trivial policy", 0.3);
const LOOKUP: (&str, f64) = ("keyed lookup", 5.0);

/// Two threads should decide so many times what one does, in the middle of all cases.
const THREADS: f64 = 1.9;
/// They should decide this part of what they do where they share nothing, which tells what sharing
/// costs without the machine, and must decide that part, with what is lost to noise.
const SHARED: f64 = 0.95;
const SHARED_BOUND: f64 = 0.75;

/// What a case must not exceed, with what is lost to noise: of the interpreter's time, and all of
/// them of the RVM's.
const CASE_BOUND: f64 = 1.1;
const MEAN_BOUND: f64 = 0.6;

/// The rows so far.
#[derive(Debug, Default)]
pub(crate) struct Goals {
    ratios: Vec<f64>,
    gains: Vec<Gain>,
    missed: Vec<String>,
    broken: Vec<String>,
}

impl Goals {
    /// Takes the times of a case, and what a second thread gains; what is told of them.
    pub(crate) fn row(&mut self, name: &str, times: &Times, gain: Gain) -> String {
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
        let mut told = format!(
            "{name:36} {microseconds:>10.2} us  {beside_rvm:.2} of the RVM  \
             {beside_interpreter:.2} of the interpreter  {:.2} times by two threads, {:.2} of \
             unshared",
            gain.beside_one, gain.beside_unshared
        );
        for (figure, most, unit) in goals {
            if figure > most {
                told.push_str(&format!("  missed: {most} {unit}"));
                self.missed
                    .push(format!("{name}: {figure:.2} {unit}, not {most}"));
            }
        }
        if beside_interpreter > CASE_BOUND {
            let broken = format!("{name}: {beside_interpreter:.2} of the interpreter");
            self.broken.push(broken);
        }
        told
    }

    /// The geometric mean of the parts of the RVM's time.
    fn mean(&self) -> f64 {
        let sum: f64 = self.ratios.iter().map(|ratio| ratio.ln()).sum();
        (sum / self.ratios.len() as f64).exp()
    }

    /// What two threads gain, in the middle of all cases.
    fn gain(&self) -> Gain {
        let middle = |of: fn(&Gain) -> f64| median(self.gains.iter().map(of).collect());
        Gain {
            beside_one: middle(|gain| gain.beside_one),
            beside_unshared: middle(|gain| gain.beside_unshared),
        }
    }

    /// Whether every figure is what it must be.
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
        let Gain {
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
