//! Counts of the compared policies and queries.

use std::error::Error;
use std::fmt;

use super::Outcome;

/// Counts of the policies and queries on which both sides agree.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Number of policies that both sides compiled.
    pub(super) taken: u32,
    /// Number of policies that both sides rejected.
    pub(super) refused: u32,
    /// Number of queries with a result.
    defined: u32,
    /// Number of undefined queries.
    undefined: u32,
    /// Number of queries that both sides rejected.
    wrong: u32,
    /// Number of queries whose evaluation failed.
    failed: u32,
    /// Number of policies and queries skipped because of known bugs of OPA.
    pub(super) flaws: u32,
}

impl Counts {
    /// Counts the result of a query.
    pub(super) fn count(&mut self, answer: &Outcome) {
        let counter = match answer {
            Ok(value) if value == "[]" => &mut self.undefined,
            Ok(_) => &mut self.defined,
            Err(mistakes) if mistakes.iter().any(|mistake| mistake.starts_with("rego_")) => {
                &mut self.wrong
            }
            Err(_) => &mut self.failed,
        };
        *counter += 1;
    }

    /// Rejects a run that compared too little: 60% of the policies must compile, and 40% of their
    /// queries must have a result; at most 1% of the queries may be skipped.
    pub(super) fn check(&self) -> Result<(), Box<dyn Error>> {
        let queries = self.defined + self.undefined + self.wrong + self.failed;
        if self.taken * 5 < (self.taken + self.refused) * 3 {
            return Err("too few of the policies were taken".into());
        }
        if self.defined * 5 < queries * 2 {
            return Err("too few of the queries had an answer".into());
        }
        if self.flaws * 100 > queries {
            return Err("OPA failed at too many of the queries".into());
        }
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            taken,
            refused,
            defined,
            undefined,
            wrong,
            failed,
            flaws,
        } = self;
        write!(
            f,
            "{taken} policies taken and {refused} refused; {defined} queries defined, \
             {undefined} undefined, {wrong} refused and {failed} failed, {flaws} left out"
        )
    }
}
