//! Every built-in function with hostile operands: each call checks the meter often enough to be
//! interruptible, and takes no more memory than it is charged for.
//!
//! A separate program whose tests run serially, because the memory of the process is measured.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod declarations;
mod loops;
mod operands;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use declarations::declarations;
use operands::{Named, Operands};
use peak_alloc::PeakAlloc;
use rego::{
    AbortReason, Evaluation, Governor, PartialOptions, PartialQuery, Policy, Query, QueryOptions,
    Value,
};
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Functions that are not called: they are operators or are evaluated elsewhere.
const NOT_CALLED: &[&str] = &["assign", "eq"];

/// Memory limit of an evaluation in bytes.
const MEMORY_LIMIT: u64 = 64 << 20;

/// Processor time after which a call is ended. It only determines the duration of the test.
const CALL_TIME_LIMIT: Duration = Duration::from_millis(60);

/// Minimum number of calls of each function with several operands.
const CALLS: usize = 12;

/// Maximum number of attempts for a call that takes too long between two checkpoints.
const MAX_ATTEMPTS: usize = 5;

/// Query that costs a tenth of the maximum time between two checkpoints.
const YARDSTICK: &str = "count([x | some x in numbers.range(1, 40000); x % 2 == 0])";

/// Returns the processor time of this thread.
fn spent() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Checkpoints of a call.
#[derive(Debug)]
struct Checkpoints {
    began: Duration,
    last: Duration,
    longest: Duration,
    allocated: u64,
}

/// Monitors the checkpoints of a call, and ends the call.
#[derive(Debug)]
struct CheckpointMonitor(Mutex<Checkpoints>);

impl CheckpointMonitor {
    fn new() -> Arc<Self> {
        let now = spent();
        Arc::new(Self(Mutex::new(Checkpoints {
            began: now,
            last: now,
            longest: Duration::ZERO,
            allocated: 0,
        })))
    }

    /// Records a checkpoint. Returns the longest pause so far, and whether the call has to end.
    fn record(&self, allocated: u64) -> (Duration, bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = spent();
        state.longest = state.longest.max(now - state.last);
        state.last = now;
        state.allocated += allocated;
        let is_over = now - state.began > CALL_TIME_LIMIT || state.allocated > MEMORY_LIMIT;
        (state.longest, is_over)
    }
}

impl Governor for CheckpointMonitor {
    fn checkpoint(
        &self,
        allocated: u64,
        _: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        match self.record(allocated) {
            (_, true) => Err(AbortReason::Memory),
            _ => Ok(()),
        }
    }

    fn rest(&self) {}
}

/// Cost of a call: the longest time between two checkpoints, and the memory.
#[derive(Debug)]
struct Cost {
    pause: Duration,
    memory: u64,
}

fn cost(query: &Query, operands: &[Value]) -> Cost {
    let documents = Value::object::<&str>([]);
    let mut print = |_: &rego::syntax::Location, _: &str| {};
    let input = Value::from(operands.to_vec());
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let watch = CheckpointMonitor::new();
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = Some(input);
    evaluation.limits.governor = Some(Arc::<CheckpointMonitor>::clone(&watch));
    evaluation.print = Some(&mut print);
    // Other tests check the result of the call.
    drop(query.evaluate(&mut evaluation));
    let (pause, _) = watch.record(0);
    let memory = MEMORY.peak_usage().saturating_sub(before);
    Cost {
        pause,
        memory: memory as u64,
    }
}

/// Serializes the tests, because the memory of the whole process is measured.
static ALONE: Mutex<()> = Mutex::new(());

/// Parses a call of a function whose operands are the items of the input.
fn call_of(policy: &Policy, function: &str, operands: usize) -> Query {
    let operands: Vec<_> = (0..operands).map(|at| format!("input[{at}]")).collect();
    let operands = operands.join(", ");
    let text = match function {
        "print" | "internal.print" | "internal.test_case" => format!("{function}({operands})"),
        _ => format!("x := {function}({operands})"),
    };
    query(policy, &text)
}

fn query(policy: &Policy, text: &str) -> Query {
    let query = Query::parse(policy, text, &QueryOptions::default());
    query.unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// Chooses calls of a function: every operand at every position at least once, if the number of
/// calls suffices, combined with pseudo-random operands.
fn choose<'o>(pools: &[Vec<&'o Named>], seed: &mut u64) -> Vec<Vec<&'o Named>> {
    let mut next = |below: usize| {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*seed >> 33).unwrap_or(0) % below
    };
    let longest = pools.iter().map(Vec::len).max().unwrap_or(1);
    let rounds = match pools.len() {
        0 | 1 => longest,
        _ => CALLS.max(longest),
    };
    let mut call = |round: usize| {
        let systematic = round % pools.len().max(1);
        let places = pools.iter().enumerate();
        let chosen = places.map(|(place, pool)| match place == systematic {
            true => pool.get(round % pool.len()),
            false => pool.get(next(pool.len())),
        });
        chosen.flatten().copied().collect()
    };
    (0..rounds).map(&mut call).collect()
}

#[test]
fn calls_with_hostile_operands_can_be_ended() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let policy = Policy::default();
    let yardstick = query(&policy, YARDSTICK);
    let measure = || {
        let begun = spent();
        drop(yardstick.evaluate(&mut Evaluation::new(&Value::Null)));
        10 * (spent() - begun)
    };
    let pools = Operands::new();
    let mut seed = 1;
    let mut calls: Vec<(Arc<Query>, String, Vec<Value>)> = Vec::new();
    for (name, types) in declarations().filter(|(name, _)| !NOT_CALLED.contains(name)) {
        let query = Arc::new(call_of(&policy, name, types.len()));
        let pools: Vec<_> = types.iter().map(|of| pools.of(of)).collect();
        for operands in choose(&pools, &mut seed) {
            let names: Vec<_> = operands.iter().map(|(name, _)| *name).collect();
            let description = format!("{name}({})", names.join(", "));
            let operands = operands.iter().map(|(_, value)| value.clone());
            calls.push((Arc::clone(&query), description, operands.collect()));
        }
    }
    for case in cases::cases() {
        let query = Arc::new(call_of(&policy, case.function, case.operands.len()));
        let description = format!("{}: {}", case.function, case.description);
        calls.push((query, description, case.operands));
    }
    let most = MEMORY_LIMIT + MEMORY_LIMIT / 10;
    let mut wrong = Vec::new();
    let mut longest = measure();
    for (query, description, operands) in &calls {
        let mut found = cost(query, operands);
        // Other processes sometimes evict caches.
        for _ in 1..MAX_ATTEMPTS {
            if found.pause <= longest && found.memory <= most {
                break;
            }
            longest = measure();
            found = cost(query, operands);
        }
        if found.pause > longest || found.memory > most {
            wrong.push(format!(
                "{description}: {found:?}, at most {longest:?} and {most}"
            ));
        }
    }
    assert!(calls.len() > 2000, "{} calls", calls.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A value with shared parts is charged before it is converted to a term of a residual.
#[test]
fn residuals_take_no_more_memory_than_they_are_charged_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // 2^22 numbers in total.
    let doubled = (0..22).fold("x0 := [1]".to_owned(), |all, at| {
        format!("{all}; x{} := [x{at}, x{at}]", at + 1)
    });
    let documents = Value::object::<&str>([]);
    for rest in [
        "input.x == x22",
        "input.x[x22] == 1",
        "[x22, input.y] == input.x",
    ] {
        let text = format!("{doubled}; {rest}");
        let query = PartialQuery::parse(&Policy::default(), &text, &QueryOptions::default());
        let query = query.unwrap_or_else(|why| panic!("{rest}: {why}"));
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let mut evaluation = Evaluation::new(&documents);
        evaluation.limits.values = Some(1 << 20);
        let found = query.evaluate(&mut evaluation, &PartialOptions::default());
        let memory = MEMORY.peak_usage().saturating_sub(before) as u64;
        assert!(found.is_err(), "{rest}");
        assert!(memory < MEMORY_LIMIT, "{rest}: {memory} bytes");
    }
}
