//! Tests of all built-in functions: tables of calls, and malformed input.

pub(super) mod constant_calls;
mod malformed_input;
mod operand_tables;
