//! Evaluation budget, shared by all expressions and queries of one build.
//!
//! The owners of definitions write these expressions and queries. Each build has its own budget, so
//! that an expensive one fails only its own build.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rego::error::EvalCode;
use rego::{AbortReason, EvalError, Evaluation, Governor, Limits, Query, Solution, Value};

/// Limits for all evaluations of one build together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EvaluationBounds {
    /// Maximum total time; `None` means unlimited.
    pub(crate) time: Option<Duration>,
    /// Maximum total size of all values created, including values no longer in use, and of the
    /// results as JSON, in bytes; `None` means unlimited.
    pub(crate) memory: Option<u64>,
}

impl Default for EvaluationBounds {
    fn default() -> Self {
        Self {
            time: Some(Duration::from_secs(5)),
            memory: Some(128 << 20),
        }
    }
}

/// Budget of one build.
#[derive(Debug)]
pub(super) struct Budget {
    bounds: EvaluationBounds,
    /// Total time of the evaluations so far.
    spent: Mutex<Duration>,
    allocated: Arc<Allocated>,
    exhausted: AtomicBool,
}

/// Counter of allocated bytes.
#[derive(Debug)]
struct Allocated {
    bytes: AtomicU64,
    limit: Option<u64>,
}

impl Allocated {
    fn add(&self, bytes: u64) -> Result<(), AbortReason> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let allocated = before.saturating_add(bytes);
        match self.limit {
            Some(limit) if allocated > limit => Err(AbortReason::Memory),
            _ => Ok(()),
        }
    }
}

/// Builds have their own threads, and few run at a time, so evaluations never have to wait.
impl Governor for Allocated {
    fn checkpoint(
        &self,
        allocated: u64,
        _: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        self.add(allocated)
    }

    fn rest(&self) {}
}

impl Budget {
    pub(super) fn new(bounds: EvaluationBounds) -> Self {
        let allocated = Allocated {
            bytes: AtomicU64::new(0),
            limit: bounds.memory,
        };
        Self {
            bounds,
            spent: Mutex::default(),
            allocated: Arc::new(allocated),
            exhausted: AtomicBool::new(false),
        }
    }

    /// Whether an evaluation has failed because the budget is exhausted.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// Evaluates a query without network access; stops when `cancelled` is set.
    ///
    /// # Errors
    /// A human-readable message.
    pub(super) fn evaluate(
        &self,
        query: &Query,
        mut evaluation: Evaluation<'_>,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Vec<Solution>, String> {
        let started = Instant::now();
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let remaining = self.bounds.time.map(|time| time.saturating_sub(*spent));
        evaluation.allowed_hosts = Some(Arc::from([]));
        evaluation.cancelled = Some(Arc::clone(cancelled));
        evaluation.limits = Limits {
            deadline: remaining.and_then(|remaining| started.checked_add(remaining)),
            values: self.bounds.memory.map(|bytes| bytes / rego::VALUE_BYTES),
            inline: false,
            governor: Some(Arc::<Allocated>::clone(&self.allocated)),
        };
        let answers = query.evaluate(&mut evaluation);
        *spent = spent.saturating_add(started.elapsed());
        answers.map_err(|failure| self.failed(&failure))
    }

    /// Converts a result to JSON.
    ///
    /// # Errors
    /// When it is longer than `max_bytes` bytes, or the memory budget is exhausted.
    pub(super) fn text(&self, value: &Value, max_bytes: usize) -> Result<Vec<u8>, String> {
        let text = value
            .to_json(false, max_bytes)
            .map_err(|error| error.to_string())?;
        match self.allocated.add(text.len() as u64) {
            Ok(()) => Ok(text),
            Err(_) => Err(self.mark_exhausted("the results are too long")),
        }
    }

    fn failed(&self, failure: &EvalError) -> String {
        match failure.code {
            EvalCode::Cancelled | EvalCode::Internal | EvalCode::Memory => {
                self.mark_exhausted(&failure.to_string())
            }
            _ => failure.to_string(),
        }
    }

    /// Marks the budget as exhausted; returns the error message, which lists all limits.
    fn mark_exhausted(&self, cause: &str) -> String {
        self.exhausted.store(true, Ordering::Relaxed);
        let time = self.bounds.time.map(|time| format!("take {time:?}"));
        let memory = |bytes: u64| format!("make values of {} MiB", bytes >> 20);
        let bounds = [time, self.bounds.memory.map(memory)];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        match bounds.as_slice() {
            [] => cause.to_owned(),
            bounds => format!(
                "{cause}; all evaluations of a build together may {}",
                bounds.join(" and ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use rego::{Policy, QueryOptions};
    use rstest::rstest;

    use super::*;

    fn evaluated(budget: &Budget, query: &str) -> Result<Vec<Solution>, String> {
        let body = Query::read(query).map_err(|errors| errors.to_string())?;
        let query = Query::compile(&Policy::default(), body, &QueryOptions::default());
        let query = query.map_err(|errors| errors.to_string())?;
        let root = super::super::documents::root();
        budget.evaluate(&query, Evaluation::new(&root), &Arc::default())
    }

    fn bounds(time: Option<Duration>, memory: Option<u64>) -> EvaluationBounds {
        EvaluationBounds { time, memory }
    }

    #[rstest]
    #[case::default_bounds("1 + 1", EvaluationBounds::default(), None)]
    #[case::no_bounds("1 + 1", bounds(None, None), None)]
    #[case::time(
        "count([1 | some a in numbers.range(1, 9999); \
         some b in numbers.range(1, 9999); a + b == -1])",
        bounds(Some(Duration::from_millis(10)), None),
        Some("query execution took too long; all evaluations of a build together may take 10ms")
    )]
    #[case::memory(
        "count(numbers.range(1, 100000))",
        bounds(None, Some(1 << 20)),
        Some(
            "query execution made too many values; all evaluations of a build together may make values of 1 MiB"
        )
    )]
    #[case::undefined("to_number(\"x\") == 1", EvaluationBounds::default(), None)]
    fn what_is_beyond_a_limit_fails_and_says_so(
        #[case] query: &str,
        #[case] bounds: EvaluationBounds,
        #[case] message: Option<&str>,
    ) {
        let budget = Budget::new(bounds);
        let failed = evaluated(&budget, query).err();
        let shows = match (&failed, message) {
            (None, None) => true,
            (Some(failed), Some(message)) => failed.ends_with(message),
            _ => false,
        };
        assert!(shows, "{failed:?}");
        assert_eq!(budget.is_exhausted(), message.is_some());
    }

    /// Evaluations that each stay below the limit exceed it together.
    #[test]
    fn evaluations_of_a_build_share_their_memory() {
        let budget = Budget::new(bounds(None, Some(4 << 20)));
        let query = "count([x | some x in numbers.range(1, 10000)])";
        let mut fitting = 0;
        while evaluated(&budget, query).is_ok() {
            fitting += 1;
            assert!(fitting < 100, "there is no limit");
        }
        assert!(fitting > 0, "the first one fits");
        assert!(budget.is_exhausted());
    }

    #[test]
    fn texts_of_results_count() {
        let budget = Budget::new(bounds(None, Some(1000)));
        let value = Value::from("x".repeat(598).as_str());
        assert_eq!(budget.text(&value, 600).map(|text| text.len()), Ok(600));
        assert!(budget.text(&value, 599).is_err());
        assert!(!budget.is_exhausted());
        assert!(budget.text(&value, 600).is_err());
        assert!(budget.is_exhausted());
    }
}
