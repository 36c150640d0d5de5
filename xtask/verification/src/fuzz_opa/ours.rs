//! Evaluation by our evaluator.

use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, Solution, Value};

use super::{Outcome, ordered};

/// Compiles a policy.
pub(super) fn compile(text: &str) -> Result<Policy, Vec<String>> {
    let compiled = Module::parse("m.rego", text).and_then(|module| {
        let documents = documents();
        Compiler::new(&Policy::default())
            .put("m.rego", module)
            .documents(&documents)
            .compile()
    });
    compiled.map_err(|errors| mistakes(&errors))
}

/// Evaluates a query.
pub(super) fn evaluate(policy: &Policy, query: &str, input: &str) -> Outcome {
    let query = Query::parse(policy, query, &rego::QueryOptions::default())
        .map_err(|errors| mistakes(&errors))?;
    let documents = documents();
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = from_json(input.as_bytes())
        .ok()
        .filter(|input| *input != Value::Null);
    match query.evaluate(&mut evaluation) {
        Ok(answers) => {
            let answers: Vec<_> = answers.iter().map(Solution::to_value).collect();
            // Sorts the members of objects by name, whose order JSON leaves open.
            let text = Value::from(answers).to_string();
            Ok(from_json(text.as_bytes()).map_or(text, |read| read.to_string()))
        }
        Err(error) => {
            let at = error.location.as_ref().map(|at| (at.row, at.col));
            Err(vec![mistake(error.code.as_str(), at, &error.message)])
        }
    }
}

fn documents() -> Value {
    from_json(rego_generate::documents().as_bytes()).unwrap_or(Value::Null)
}

fn mistakes(errors: &rego::Errors) -> Vec<String> {
    let mistakes = errors.0.iter().map(|error| {
        let at = error.location.as_ref().map(|at| (at.row, at.col));
        let mut line = mistake(error.code.as_str(), at, &error.message);
        if let Some(details) = &error.details {
            line.push_str(&format!(" {details}"));
        }
        line
    });
    ordered(mistakes.collect())
}

fn mistake(code: &str, at: Option<(u32, u32)>, message: &str) -> String {
    match at {
        Some((row, col)) => format!("{code} {row}:{col} {message}"),
        None => format!("{code} - {message}"),
    }
}
