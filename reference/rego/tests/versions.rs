//! Modules of Rego v0 and v1, alone and together, in a table: after `---` the version and id of a
//! module, after `>>>` the document `data`, or each error with its location, as OPA responds.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a broken table ends the test"
)]

use rego::error::LanguageError;
use rego::value::{Object, from_json};
use rego::{Compiler, Errors, Evaluation, Module, Policy, Query, Value, Version};

#[test]
fn modules_mean_what_their_version_says() {
    let table = include_str!("versions/modules.txt");
    let mut wrong = Vec::new();
    for case in table.trim_end().split("\n=== ") {
        let (steps, expected) = case.split_once("\n>>>\n").unwrap();
        let (name, modules) = steps.split_once("\n--- ").unwrap();
        let found = match answer(modules) {
            Ok(found) => found,
            Err(Errors(errors)) => errors.iter().map(mistake).collect::<Vec<_>>().join("\n"),
        };
        if found != expected {
            wrong.push(format!("{name}\n  wanted\n{expected}\n  found\n{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}{} differ", wrong.concat(), wrong.len());
}

/// Parses a module of a table: the line with its version and id, and the source.
fn parsed(module: &str) -> (&str, Result<Module, Errors>) {
    let (head, text) = module.split_once('\n').unwrap();
    let (version, id) = head.split_once(' ').unwrap();
    let text = format!("{text}\n");
    (id, Module::parse_as(id, &text, version_named(version)))
}

/// Returns the document `data` with these modules, or the evaluation error.
fn answer(modules: &str) -> Result<String, Errors> {
    let mut compiler = Compiler::new(&Policy::default());
    for (id, module) in modules.split("\n--- ").map(parsed) {
        compiler = compiler.put(id, module?);
    }
    let mut policy = compiler.compile()?;
    // Each module is replaced by itself, and its dependents are recompiled.
    for (id, module) in modules.split("\n--- ").map(parsed) {
        policy = Compiler::new(&policy).put(id, module?).compile()?;
    }
    let query = Query::document(&policy, &[])?;
    let documents = Value::from(Object::new());
    let answers = match query.evaluate(&mut Evaluation::new(&documents)) {
        Ok(answers) => answers,
        Err(error) => {
            let place = error.location.as_ref().map(place).unwrap_or_default();
            let message = error.message.replace('\n', "\\n");
            return Ok(format!("{} {place} {message}", error.code.as_str()));
        }
    };
    let answer = answers.into_iter().next().unwrap();
    // JSON has no sets.
    let text = answer.into_document().unwrap().to_string();
    Ok(from_json(text.as_bytes()).unwrap().to_string())
}

fn version_named(name: &str) -> Version {
    match name {
        "v0" => Version::V0,
        "v1" => Version::V1,
        other => panic!("there is no version {other}"),
    }
}

fn mistake(error: &LanguageError) -> String {
    let place = match &error.location {
        Some(location) => place(location),
        None => "-".to_owned(),
    };
    let message = error.message.replace('\n', "\\n");
    format!("{} {place} {message}", error.code.as_str())
}

fn place(location: &rego::syntax::Location) -> String {
    format!("{}:{}:{}", location.file, location.row, location.col)
}

#[test]
fn trees_of_v0_are_those_of_opa() {
    let table = include_str!("versions/trees.txt");
    let mut wrong = Vec::new();
    for case in table.trim_end().split("\n=== ") {
        let (text, expected) = case.split_once("\n>>>\n").unwrap();
        let text = text.strip_prefix("=== ").unwrap_or(text);
        let found = match Module::parse_as("m", &format!("{text}\n"), Version::V0) {
            Ok(module) => module.to_json(),
            Err(errors) => Value::from(errors.to_string()),
        };
        if found != from_json(expected.as_bytes()).unwrap() {
            wrong.push(format!("{text}\n  wanted\n{expected}\n  found\n{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}{} differ", wrong.concat(), wrong.len());
}
