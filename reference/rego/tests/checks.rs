//! Errors of adding and removing modules and of queries, in tables: after `---` the change or
//! query, after `>>>` the errors, each with its location, and its details as JSON below.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test panics"
)]

use rego::error::LanguageError;
use rego::value::from_json;
use rego::{Compiler, Errors, Module, Policy, Query, QueryOptions};
use rstest::rstest;

use crate::support::processor_time;

#[rstest]
#[case::rules(include_str!("checks/rules.txt"))]
#[case::types(include_str!("checks/types.txt"))]
#[case::queries(include_str!("checks/queries.txt"))]
fn modules_and_queries_are_checked(#[case] table: &str) {
    check(table);
}

/// Applies the changes of every case, and compares the errors of the last one.
fn check(table: &str) {
    let mut wrong = Vec::new();
    for case in sections(table, "=== ") {
        let (steps, expected) = case.split_once("\n>>>\n").unwrap();
        let (name, steps) = steps.split_once('\n').unwrap();
        let found = match change(steps) {
            Ok(()) => "ok\n".to_owned(),
            Err(Errors(errors)) => errors.iter().map(format_error).collect(),
        };
        if found.trim_end() != expected.trim_end() {
            wrong.push(format!(
                "=== {name}\n{steps}\n>>> wanted\n{expected}\n>>> found\n{found}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} differ",
        wrong.join("\n"),
        wrong.len()
    );
}

fn change(steps: &str) -> Result<(), Errors> {
    let mut policy = Policy::default();
    let mut documents = from_json(b"{}").unwrap();
    for step in sections(steps, "--- ") {
        let (head, text) = step.split_once('\n').unwrap_or((step, ""));
        if head == "data" {
            documents = from_json(text.as_bytes()).unwrap();
            continue;
        }
        if head == "query" {
            Query::parse(&policy, text.trim_end(), &QueryOptions::default())?;
            continue;
        }
        let compiler = Compiler::new(&policy).documents(&documents);
        let compiler = match head.strip_prefix("delete ") {
            Some(id) => compiler.remove(id),
            None => compiler.put(head, Module::parse(head, &format!("{text}\n"))?),
        };
        policy = compiler.compile()?;
    }
    Ok(())
}

fn sections<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = &'t str> {
    let inner = text.strip_prefix(mark).unwrap_or(text);
    inner.split(match mark {
        "=== " => "\n=== ",
        _ => "\n--- ",
    })
}

fn format_error(error: &LanguageError) -> String {
    let place = match &error.location {
        Some(place) => format!("{}:{}:{}", place.file, place.row, place.col),
        None => "-".to_owned(),
    };
    let message = error.message.replace('\n', "\\n");
    let details = match &error.details {
        Some(details) => format!("    {}\n", details),
        None => String::new(),
    };
    format!("{} {place} {message}\n{details}", error.code.as_str())
}

/// Sources of modules that depend on each other in many ways, some of them invalid.
const TEXTS: &[&str] = &[
    "package a\np := 1",
    "package a\np := {\"x\": 1}",
    "package a\np(x) := x + 1",
    "package a\nq := data.b.q\nr := p",
    "package b\nq := data.a.p.x",
    "package b\nq := data.a.p(1)",
    "package b\nq := upper(data.a.p)",
    "package b\nq if data.c[_]",
    "package b.q\nx := 1",
    "package c\nr := data.a.q",
    "package c\nr[x] := data.a.r if x := input.x",
    "package c\nr.s := data.b.q",
    "package c\ndefault t := 1",
    "package c\nf(x) := y if y := data.c.g(x)\ng(x) := data.b.q + x",
    "package d\ns contains x if { some x in data.c; x.y }",
    "package d\ns contains 1 if data.a.p with data.b.q as 2",
];

#[test]
fn change_by_change_is_as_all_at_once() {
    // Fixed pseudo-random sequence (xorshift).
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..60 {
        let mut policy = Policy::default();
        let mut texts = std::collections::BTreeMap::new();
        for _ in 0..12 {
            let id = format!("m{}.rego", next(6));
            let text = (next(4) > 0).then(|| TEXTS[next(TEXTS.len())]);
            let mut changed = texts.clone();
            let step = Compiler::new(&policy);
            let step = match text {
                Some(text) => {
                    changed.insert(id.clone(), text);
                    step.put(&id, Module::parse(&id, text).unwrap())
                }
                None => {
                    changed.remove(&id);
                    step.remove(&id)
                }
            };
            let all = changed
                .iter()
                .fold(Compiler::new(&Policy::default()), |all, (id, text)| {
                    all.put(id, Module::parse(id, text).unwrap())
                });
            match (step.compile(), all.compile()) {
                (Ok(step), Ok(all)) => {
                    assert_eq!(trees(&step), trees(&all), "{changed:#?}");
                    accepted += 1;
                    policy = step;
                    texts = changed;
                }
                (Err(step), Err(all)) => {
                    assert_eq!(step, all, "{changed:#?}");
                    refused += 1;
                }
                (step, all) => panic!("{step:?}\n{all:?}\n{changed:#?}"),
            }
        }
    }
    assert!(
        accepted > 100 && refused > 100,
        "{accepted} accepted, {refused} refused"
    );
}

/// Returns the compiled modules by id.
fn trees(policy: &Policy) -> std::collections::BTreeMap<String, String> {
    let modules = policy.modules();
    modules
        .map(|module| (module.id().to_owned(), module.tree().to_json().to_string()))
        .collect()
}

/// Adding a module costs about the same among many others as among few. A scan of all others would
/// cost fifty times as much or more.
#[test]
fn a_change_costs_what_it_touches() {
    let policy = |others: usize| {
        let all = (0..others).fold(Compiler::new(&Policy::default()), |all, number| {
            let id = format!("m{number}.rego");
            let text = format!("package m{number}\np if q[input.x] == 1\nq[x] := y if some x, y in data.base{number}");
            all.put(&id, Module::parse(&id, &text).unwrap())
        });
        all.compile().unwrap()
    };
    let text = "package new\np if q[input.x] == 1\nq[x] := y if some x, y in data.base";
    let module = Module::parse("new.rego", text).unwrap();
    let add = |policy: &Policy| {
        let compiler = Compiler::new(policy).put("new.rego", module.clone());
        drop(compiler.compile().unwrap());
    };
    let (few, many) = (policy(10), policy(1000));
    let costs = processor_time::compare(3, || add(&few), || add(&many));
    assert_eq!(costs, Ok(()), "among few, among many");
}
