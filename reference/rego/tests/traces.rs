//! Explanations: the lines that OPA 1.22 prints for the queries of `traces.txt`.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use rego::trace::{Filter, Form, Recorder};
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Value};

/// Sections that begin with a line `=== title`: the module, the documents, then for each query the
/// filter of its trace and the expected lines.
const TABLE: &str = include_str!("traces.txt");

fn sections() -> Vec<(&'static str, &'static str)> {
    let sections = TABLE.split("=== ").skip(1);
    let sections = sections.map(|section| section.split_once('\n').expect("a title"));
    sections.collect()
}

/// Returns the explanation of a query, without trailing blanks.
fn explained(policy: &Policy, documents: &Value, filter: Filter, query: &str) -> String {
    let query = Query::parse(policy, query, &QueryOptions::default());
    let query = query.unwrap_or_else(|errors| panic!("{errors}"));
    let mut recorder = Recorder::new(filter, Form::Pretty);
    let mut evaluation = Evaluation::new(documents);
    evaluation.input = from_json(br#"{"user": "ann"}"#).ok();
    evaluation.tracer = Some(&mut recorder);
    let answered = query.evaluate(&mut evaluation);
    drop(evaluation);
    answered.unwrap_or_else(|error| panic!("{error}"));
    let lines = recorder.finish();
    let lines = lines.as_array().expect("lines").iter();
    let lines = lines.map(|line| line.as_str().unwrap_or_default().trim_end());
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn traces_are_shown_line_by_line() {
    let sections = sections();
    let [(_, module), (_, documents), queries @ ..] = sections.as_slice() else {
        panic!("a module and documents come first");
    };
    let module = Module::parse("t.rego", module).expect("the module is read");
    let policy = Compiler::new(&Policy::default()).put("t.rego", module);
    let policy = policy.compile().expect("the module compiles");
    let documents = from_json(documents.trim().as_bytes()).expect("documents");
    assert!(queries.len() >= 20, "{} queries", queries.len());
    for (title, expected) in queries {
        let (filter, query) = title.split_once(' ').expect("a filter");
        let filter = match filter {
            "notes" => Filter::Notes,
            "fails" => Filter::Fails,
            "full" => Filter::Full,
            _ => Filter::Debug,
        };
        assert_eq!(
            explained(&policy, &documents, filter, query),
            *expected,
            "{title}"
        );
    }
}
