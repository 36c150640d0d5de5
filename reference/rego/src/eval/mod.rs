//! Evaluation of queries over a compiled policy.
