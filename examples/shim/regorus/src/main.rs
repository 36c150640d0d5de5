//! An adapter for `conformance shim`: decisions by regorus.

use std::fmt::Display;
use std::io::{self, BufRead as _, Write as _};

use regorus::Engine;
use serde_json::{Value, json};

/// Why there is no decision: a code, and the words of the library.
struct Refused(&'static str, String);

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let answer = match decide(&line?) {
            Ok(answer) => answer,
            Err(Refused(code, message)) => json!({"error": {"code": code, "message": message}}),
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn decide(line: &str) -> Result<Value, Refused> {
    let question: Value = serde_json::from_str(line).map_err(invalid)?;
    let mut engine = Engine::new();
    engine.set_strict_builtin_errors(question["strict_builtin_errors"] == true);
    for (id, text) in question["modules"].as_object().into_iter().flatten() {
        let text = text.as_str().unwrap_or_default().to_owned();
        engine.add_policy(id.clone(), text).map_err(invalid)?;
    }
    let data = question["data"].to_string();
    engine.add_data_json(&data).map_err(invalid)?;
    if let Some(input) = question.get("input") {
        let input = input.to_string();
        engine.set_input_json(&input).map_err(invalid)?;
    }
    let steps = question["path"].as_array().into_iter().flatten();
    let steps: String = steps.map(|step| format!("[{step}]")).collect();
    let query = format!("found = data{steps}");
    let results = engine.eval_query(query, false).map_err(failed)?;
    let Some(result) = results.result.first() else {
        return Ok(json!({}));
    };
    let found = result.bindings["found"].to_json_str().map_err(failed)?;
    let found: Value = serde_json::from_str(&found).map_err(failed)?;
    Ok(json!({ "result": found }))
}

fn invalid(error: impl Display) -> Refused {
    Refused("invalid_parameter", error.to_string())
}

fn failed(error: impl Display) -> Refused {
    Refused("internal_error", error.to_string())
}
