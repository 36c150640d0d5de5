//! Check of the order of events.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;

use super::recording::untrue_exchange;
use super::{ClauseVerdict, Event, Exchange, RunFinished, RunStarted};

/// Tolerance, in milliseconds, for sums of the same times in different orders.
const ROUNDED: f64 = 0.001;

/// State of the check after the events seen so far.
#[derive(Debug, Default)]
struct Sequence<'a> {
    chosen: BTreeSet<&'a str>,
    /// Last step and total time of each rule that is not judged yet.
    open: BTreeMap<&'a str, (usize, f64)>,
    judged: BTreeSet<&'a str>,
    /// Longest time of a rule so far, in milliseconds.
    longest: f64,
    exchanges: u64,
    defects: bool,
}

/// Checks the order of the events of one run, and that their times are consistent.
///
/// # Errors
/// A message that names the first invalid event.
pub(crate) fn check(events: &[Event]) -> Result<(), String> {
    let Some((Event::RunStarted(started), rest)) = events.split_first() else {
        return Err("the first event is not the start of a run".to_owned());
    };
    let mut sequence = Sequence::of(started)?;
    for (event, number) in rest.iter().zip(2..) {
        let last = number == events.len();
        match event {
            Event::RunStarted(_) => Err("a run starts in a run".to_owned()),
            Event::Exchange(exchange) => sequence.exchange(exchange),
            Event::Judged(judged) => sequence.judged(judged),
            Event::RunFinished(_) if !last => Err("the run goes on after its end".to_owned()),
            Event::RunFinished(finished) => sequence.finished(finished, started),
            Event::Defect(_) => {
                sequence.defects = true;
                Ok(())
            }
            Event::Leaked(_) | Event::Changed(_) => Ok(()),
        }
        .map_err(|reason| format!("event {number}: {reason}"))?;
    }
    Ok(())
}

impl<'a> Sequence<'a> {
    fn of(started: &'a RunStarted) -> Result<Self, String> {
        let time = started.at.as_deref();
        if let Some(time) = time.filter(|time| DateTime::parse_from_rfc3339(time).is_err()) {
            return Err(format!("event 1: invalid time `{time}`: expected RFC 3339"));
        }
        started
            .check_parts()
            .map_err(|reason| format!("event 1: {reason}"))?;
        Ok(Self {
            chosen: started.chosen.iter().map(|one| one.rule.as_str()).collect(),
            ..Self::default()
        })
    }

    fn exchange(&mut self, exchange: &'a Exchange) -> Result<(), String> {
        let rule = exchange.rule.as_str();
        if self.judged.contains(rule) || !self.chosen.contains(rule) {
            return Err(untrue_exchange(exchange, "its rule is not judged now"));
        }
        // Cleanup is last.
        let step = match exchange.step {
            0 => usize::MAX,
            step => step,
        };
        let (last, time) = self.open.entry(rule).or_default();
        if step < *last {
            return Err(untrue_exchange(exchange, "it comes after a later step"));
        }
        *last = step;
        *time += exchange.milliseconds;
        self.exchanges += 1;
        Ok(())
    }

    fn judged(&mut self, judged: &'a ClauseVerdict) -> Result<(), String> {
        let rule = judged.rule.as_str();
        if !self.chosen.contains(rule) || !self.judged.insert(rule) {
            return Err(format!("the verdict on {rule} is not the only one"));
        }
        let (_, time) = self.open.remove(rule).unwrap_or_default();
        if time > judged.milliseconds + ROUNDED {
            return Err(format!(
                "the requests of {rule} take {time:.3} ms of {:.3}",
                judged.milliseconds
            ));
        }
        self.longest = self.longest.max(judged.milliseconds);
        Ok(())
    }

    fn finished(&self, finished: &RunFinished, started: &RunStarted) -> Result<(), String> {
        if finished.run != started.run {
            return Err(format!(
                "the end of the run `{}`, not `{}`",
                finished.run, started.run
            ));
        }
        if self.longest > finished.milliseconds + ROUNDED {
            return Err(format!(
                "the run takes {:.3} ms, a rule of it {:.3}",
                finished.milliseconds, self.longest
            ));
        }
        // An interrupted request was sent but has no exchange.
        if self.defects || finished.interrupted {
            return Ok(());
        }
        if let Some(rule) = self.chosen.difference(&self.judged).next() {
            return Err(format!("{rule} was chosen, and has no verdict"));
        }
        if finished.requests != self.exchanges {
            return Err(format!(
                "{} requests were sent, {} exchanges are recorded",
                finished.requests, self.exchanges
            ));
        }
        Ok(())
    }
}
