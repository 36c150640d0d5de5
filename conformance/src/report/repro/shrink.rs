//! Shrinking of failing scenarios to the fewest steps.
//!
//! A step is dropped if the target still fails in the same way, and a server that passes the rule
//! also passes without the step: otherwise a correct response would count as wrong.

use crate::judge::verdict::{Failure, Verdict};
use crate::run::{Outcome, Suite};

/// Returns the indices of the steps that show the failure of a rule, in order. Without a good
/// server, or if the failure does not recur, these are all steps up to the failing one. No more
/// steps are dropped once `enough` returns true.
pub(crate) fn shrink(
    target: &Suite,
    good_suite: Option<&Suite>,
    rule: &str,
    failure: &Failure,
    enough: impl Fn() -> bool,
) -> Vec<usize> {
    let mut retained: Vec<usize> = (0..failure.step).collect();
    let Some(good_suite) = good_suite else {
        return retained;
    };
    let shows = |steps: &[usize]| {
        let fails = |outcome: Outcome| match outcome.judged.verdict {
            Verdict::Fail(now) => fails_alike(failure, &now, steps.len()),
            _ => false,
        };
        let passes = |outcome: Outcome| outcome.judged.verdict == Verdict::Pass;
        target.run_steps(rule, steps).is_some_and(fails)
            && good_suite.run_steps(rule, steps).is_some_and(passes)
    };
    if enough() || !shows(&retained) {
        return retained;
    }
    for index in (0..failure.step.saturating_sub(1)).rev() {
        if enough() {
            break;
        }
        let shorter: Vec<usize> = retained
            .iter()
            .copied()
            .filter(|step| *step != index)
            .collect();
        if shows(&shorter) {
            retained = shorter;
        }
    }
    retained
}

/// Whether the last of `steps` steps fails in the same way as before in the whole scenario.
fn fails_alike(before: &Failure, now: &Failure, steps: usize) -> bool {
    let same = match before.differences.as_slice() {
        [] => before.notes == now.notes,
        differences => now.differences == differences,
    };
    same && now.step == steps && before.request == now.request
}
