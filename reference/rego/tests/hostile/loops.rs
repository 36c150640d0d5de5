//! Loops of library calls: each call may take long, so that an evaluation ends between two of them,
//! and the values that they cache are charged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use rego::error::EvalCode;
use rego::{AbortReason, Evaluation, Governor, Policy, Value};

use crate::{ALONE, MEMORY, MEMORY_LIMIT, query};

/// Number of iterations of a loop.
const ROUNDS: u64 = 40;

/// Counts checkpoints, and ends evaluations that exceed the memory limit.
#[derive(Debug)]
struct Counter {
    checkpoints: AtomicU64,
    allocated: AtomicU64,
    /// Maximum number of bytes that may be allocated.
    most: u64,
}

impl Counter {
    fn new(most: u64) -> Arc<Self> {
        Arc::new(Self {
            checkpoints: AtomicU64::default(),
            allocated: AtomicU64::default(),
            most,
        })
    }
}

impl Governor for Counter {
    fn checkpoint(
        &self,
        allocated: u64,
        _: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
        match self.allocated.fetch_add(allocated, Ordering::Relaxed) + allocated > self.most {
            true => Err(AbortReason::Memory),
            false => Ok(()),
        }
    }

    fn rest(&self) {}
}

/// Calls that compile something different in each iteration.
const CALLS: &[&str] = &[
    r#"regex.match(sprintf("^(%d|\\pL{1,9})q$", [i]), "x")"#,
    r#"regex.is_valid(sprintf("^(%d|\\pL{1,9})q$", [i]))"#,
    r#"regex.find_n(sprintf("^(%d|\\pL{1,9})q$", [i]), "x", 1)"#,
    r#"regex.replace("x", sprintf("^(%d|\\pL{1,9})q$", [i]), "y")"#,
    r#"regex.split(sprintf("^(%d|\\pL{1,9})q$", [i]), "x")"#,
    r#"regex.template_match(sprintf("{%d|\\pL{1,9}}q", [i]), "x", "{", "}")"#,
    r#"glob.match(sprintf("%d*", [i]), [], "x")"#,
    r#"json.match_schema({"a": 1}, {"properties": {"a": {"type": "string", "title": sprintf("%d", [i])}}})"#,
    r#"json.verify_schema({"pattern": sprintf("%d|\\pL{1,9}", [i])})"#,
    r#"graphql.is_valid("{ a }", sprintf("type Query { a: String b%d: Int }", [i]))"#,
    r#"graphql.schema_is_valid(sprintf("type Query { a%d: String }", [i]))"#,
    r#"crypto.x509.parse_certificates(sprintf("%d", [i]))"#,
    r#"io.jwt.verify_rs256("e30.e30.e30", sprintf("{\"keys\": [%d]}", [i]))"#,
    r#"rego.parse_module("a.rego", sprintf("package a%d", [i]))"#,
];

/// Returns the number of checkpoints of a loop that repeats a call.
fn checkpoints(call: &str) -> u64 {
    let rounds = format!("x := [r | some i in numbers.range(1, {ROUNDS}); r := {call}]");
    let query = query(&Policy::default(), &rounds);
    let documents = Value::object::<&str>([]);
    let counter = Counter::new(MEMORY_LIMIT);
    let mut evaluation = Evaluation::new(&documents);
    evaluation.limits.governor = Some(Arc::<Counter>::clone(&counter));
    if let Err(why) = query.evaluate(&mut evaluation) {
        panic!("{call}: {why}");
    }
    counter.checkpoints.load(Ordering::Relaxed)
}

#[test]
fn loops_of_calls_that_cannot_be_interrupted_end_between_them() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let cheap = checkpoints("i + 1");
    assert!(cheap < 5, "{cheap} looks at a loop of sums");
    let calls = CALLS.iter().map(|call| (call, checkpoints(call)));
    let rare: Vec<_> = calls
        .filter(|(_, checkpoints)| *checkpoints < ROUNDS - 1)
        .collect();
    assert!(
        rare.is_empty(),
        "not before each of {ROUNDS} calls: {rare:?}"
    );
}

/// One call is thousands of invocations deep, each of which is charged.
#[test]
fn templates_that_call_themselves_can_be_ended() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = r#"x := strings.render_template(`{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`, {})"#;
    let query = query(&Policy::default(), text);
    let documents = Value::object::<&str>([]);
    for (most, expected) in [(1 << 20, Err(EvalCode::Memory)), (MEMORY_LIMIT, Ok(0))] {
        let mut evaluation = Evaluation::new(&documents);
        evaluation.limits.governor = Some(Counter::new(most));
        let ended = query.evaluate(&mut evaluation).map(|answers| answers.len());
        assert_eq!(ended.map_err(|error| error.code), expected, "{most} bytes");
    }
}

/// Patterns, and a schema of patterns, that take megabytes once they are compiled.
#[test]
fn compiled_patterns_take_no_more_memory_than_they_are_charged_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let pattern = r#"sprintf("^(%d|\\pL{1,120})q$", [i])"#;
    let schema = |patterns: u32| {
        format!(
            r#"{{"allOf": [{{"pattern": p}} | some i in numbers.range(1, {patterns}); p := {pattern}]}}"#
        )
    };
    let (few, many) = (schema(3), schema(100));
    for (text, most) in [
        (
            format!("x := [1 | some i in numbers.range(1, 100); regex.match({pattern}, \"x\")]"),
            MEMORY_LIMIT,
        ),
        (format!("x := json.verify_schema({many})"), MEMORY_LIMIT),
        (
            format!("x := json.match_schema({{}}, {many})"),
            MEMORY_LIMIT,
        ),
        // A schema with this few patterns is not refused.
        (format!("x := json.verify_schema({few})"), MEMORY_LIMIT / 8),
        (
            format!("x := json.match_schema({{}}, {few})"),
            MEMORY_LIMIT / 8,
        ),
    ] {
        let query = query(&Policy::default(), &text);
        let documents = Value::object::<&str>([]);
        let mut evaluation = Evaluation::new(&documents);
        evaluation.limits.governor = Some(Counter::new(most));
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let found = query.evaluate(&mut evaluation);
        let memory = MEMORY.peak_usage().saturating_sub(before) as u64;
        assert!(found.is_err(), "{text}");
        assert!(memory <= most + most / 10, "{text}: {memory} bytes");
    }
}
