//! Adapter for `conformance shim`, which evaluates with the policy language of the reference. A
//! behaviour argument selects a misbehaviour.

use std::io::{BufRead as _, Write as _};

use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions};
use serde_json::{Value, json};

/// Environment variable that makes this executable act as the adapter, with the behaviour as its
/// value.
const WANTED: &str = "TESTS_CLI_IS_ADAPTER";

/// Returns the behaviour of the adapter if this executable must act as one.
pub(crate) fn is_wanted() -> Option<String> {
    std::env::var(WANTED).ok()
}

/// Returns the environment variable that makes this executable an adapter with a behaviour.
pub(crate) fn environment(behaviour: &str) -> (String, String) {
    (WANTED.to_owned(), behaviour.to_owned())
}

/// Responds to each line of standard input.
pub(crate) fn serve(behaviour: &str) {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let question: Value = serde_json::from_str(&line).expect("JSON");
        let answer = match (behaviour, what(&question)) {
            (_, "end") => std::process::exit(7),
            (_, "nonsense") => "nonsense".to_owned(),
            (_, "hang") => loop {
                std::thread::park();
            },
            ("echo", _) => json!({ "result": question }).to_string(),
            ("null-is-undefined", _) => match decision(&question) {
                Ok(None) => json!({ "result": null }).to_string(),
                decided => to_reply(decided),
            },
            ("takes-all", _) => match decision(&question) {
                Err(("invalid_parameter", _)) => "{}".to_owned(),
                decided => to_reply(decided),
            },
            ("input-lost", _) => {
                let mut question = question;
                if let Some(members) = question.as_object_mut() {
                    members.remove("input");
                }
                to_reply(decision(&question))
            }
            _ => to_reply(decision(&question)),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").expect("a reader");
        out.flush().expect("a reader");
    }
}

/// Returns the last segment of the requested path.
fn what(question: &Value) -> &str {
    let path = question.get("path").and_then(Value::as_array);
    let last = path.and_then(|path| path.last());
    last.and_then(Value::as_str).unwrap_or_default()
}

/// Value at the path, which may be undefined; or the code and the message of an error.
type Decided = Result<Option<Value>, (&'static str, String)>;

fn to_reply(decided: Decided) -> String {
    let reply = match decided {
        Ok(Some(value)) => json!({ "result": value }),
        Ok(None) => json!({}),
        Err((code, message)) => json!({"error": {"code": code, "message": message}}),
    };
    reply.to_string()
}

fn decision(question: &Value) -> Decided {
    let member = |name: &str| question.get(name).cloned().unwrap_or_default();
    let wrong = |error: &dyn std::fmt::Display| ("invalid_parameter", error.to_string());
    let failed = |error: &dyn std::fmt::Display| ("internal_error", error.to_string());
    let base = Policy::default();
    let mut compiler = Compiler::new(&base);
    for (id, text) in member("modules").as_object().into_iter().flatten() {
        let text = text.as_str().unwrap_or_default();
        let module = Module::parse(id, text).map_err(|error| wrong(&error))?;
        compiler = compiler.put(id, module);
    }
    let policy = compiler.compile().map_err(|error| wrong(&error))?;
    let path = member("path");
    let steps = path.as_array().into_iter().flatten();
    let steps: String = steps.map(|step| format!("[{step}]")).collect();
    let read = |value: &Value| from_json(value.to_string().as_bytes());
    let documents = read(&member("data")).map_err(|error| wrong(&error))?;
    let mut evaluation = Evaluation::new(&documents);
    if let Some(input) = question.get("input") {
        evaluation.input = Some(read(input).map_err(|error| wrong(&error))?);
    }
    evaluation.strict = question.get("strict_builtin_errors").is_some();
    let text = format!("found = data{steps}");
    let query = Query::parse(&policy, &text, &QueryOptions::default());
    let query = query.map_err(|error| wrong(&error))?;
    let answers = query.evaluate(&mut evaluation);
    let answers = answers.map_err(|error| failed(&error))?;
    let Some(first) = answers.first() else {
        return Ok(None);
    };
    let answer = first.to_value().to_json(false, usize::MAX);
    let answer = answer.map_err(|error| failed(&error))?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| failed(&error))?;
    Ok(answer.get("found").cloned())
}
