//! Calls of built-in functions in Rego syntax.

use std::fmt;

use rego_generate::Choices;

use super::declared::Function;
use super::{languages, operands, schemas};

/// Generated call of a function.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) operands: Vec<String>,
    /// Random bytes that determine the operands.
    pub(super) choices: Vec<u8>,
}

impl Call {
    /// Generates a call; the random bytes determine its operands.
    pub(super) fn generate(function: &Function, choices: Vec<u8>) -> Self {
        let mut reader = Choices::new(&choices);
        let of_language = languages::operands(&function.name, &mut reader)
            .or_else(|| schemas::operands(&function.name, &mut reader));
        let of_types = || {
            let operands = function.operands.iter();
            let operands =
                operands.map(|kind| operands::operand(&function.name, kind, &mut reader));
            operands.collect()
        };
        Self {
            function: function.name.clone(),
            operands: of_language.unwrap_or_else(of_types),
            choices,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.function, self.operands.join(", "))
    }
}

/// Returns a query that evaluates calls, each in a comprehension because it may be undefined. Each
/// result is returned as JSON and as a Rego literal, which also represents bytes that are not
/// UTF-8.
pub(super) fn query(calls: &[Call]) -> String {
    let parts = calls.iter().enumerate().map(|(at, call)| {
        format!("r{at:02} = [v | v := {call}]; t{at:02} = sprintf(\"%v\", [r{at:02}])")
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// Returns a Rego module with one rule per call.
pub(super) fn module(calls: &[Call]) -> String {
    let rule = |(at, call)| format!("r{at:02} := {call}\n");
    let rules: String = calls.iter().enumerate().map(rule).collect();
    format!("package calls\n\n{rules}")
}

/// Returns the results of `count` calls, given the bindings of their query.
pub(super) fn answers(bindings: &rego::Value, count: usize) -> Vec<String> {
    let answer = |at| {
        let value = bindings.get(&format!("r{at:02}"));
        let literal = bindings.get(&format!("t{at:02}"));
        let literal = literal.and_then(rego::Value::as_str).unwrap_or_default();
        let value = value.map(ToString::to_string).unwrap_or_default();
        format!("{value} {literal}")
    };
    (0..count).map(answer).collect()
}
