//! Evaluation of queries over a compiled policy.

/// What the evaluator makes of a rule when it is first needed.
#[derive(Debug)]
pub(crate) struct Lowered;
