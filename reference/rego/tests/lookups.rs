//! Items of long collections are found by content, and irrelevant items of short ones are skipped.
//! The results equal those of a traced evaluation, which visits all items.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken table ends the test"
)]

use rego::trace::{Event, Tracer};
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Solution, Value};

/// Number of searches in a collection from which on its items are looked up by content.
const SEARCHES_BEFORE_INDEX: usize = 3;

/// Tracer that ignores all events: with a tracer, no items are skipped.
struct Watcher;

impl Tracer for Watcher {
    fn event(&mut self, _event: &Event<'_>) {}
}

fn policy(text: &str) -> Policy {
    let module = Module::parse("p.rego", text).expect("the test is sound");
    let compiler = Compiler::new(&Policy::default());
    compiler
        .put("p.rego", module)
        .compile()
        .expect("the test is sound")
}

fn query(policy: &Policy) -> Query {
    Query::parse(policy, "data.p.found = x", &QueryOptions::default()).expect("the test is sound")
}

fn evaluate_input(query: &Query, documents: &Value, input: &str, watched: bool) -> String {
    let mut watcher = Watcher;
    let mut evaluation = Evaluation::new(documents);
    evaluation.input = from_json(input.as_bytes()).ok();
    evaluation.strict = true;
    if watched {
        evaluation.tracer = Some(&mut watcher);
    }
    match query.evaluate(&mut evaluation) {
        Ok(answers) => {
            let answers = answers.iter().map(Solution::to_value);
            Value::from(answers.collect::<Vec<_>>()).to_string()
        }
        Err(error) => error.to_string(),
    }
}

/// Returns an array and an object of `plain` items, and unusual ones.
fn documents(plain: usize) -> String {
    let unusual = [
        "null",
        "7",
        "\"u3\"",
        "[]",
        "[{\"user\":\"u3\"}]",
        "{}",
        "{\"user\":null}",
        "{\"user\":3}",
        "{\"user\":3.0,\"other\":1}",
        "{\"user\":3e0}",
        "{\"user\":-0}",
        "{\"user\":0}",
        "{\"user\":12345678901234567890.0}",
        "{\"user\":12345678901234567890}",
        "{\"user\":{\"name\":\"u3\"}}",
        "{\"user\":[\"u3\"]}",
        "{\"user\":true}",
    ];
    let names = (0..plain * 3 / 2).map(|at| format!("\"u{at}\","));
    let names: String = names.collect();
    let plain = (0..plain).map(|at| format!("{{\"user\":\"u{}\",\"at\":{at}}}", at % 40));
    let items: Vec<_> = plain.chain(unusual.map(str::to_owned)).collect();
    let members = items.iter().enumerate();
    let members: Vec<_> = members
        .map(|(at, item)| format!("\"k{at}\":{item}"))
        .collect();
    format!(
        r#"{{"list":[{}],"object":{{{}}},"names":[{names}3,1.0,[1],null]}}"#,
        items.join(","),
        members.join(","),
    )
}

const SEARCHED_VALUES: &[&str] = &[
    "\"u3\"",
    "\"u39\"",
    "\"nobody\"",
    "3",
    "3.0",
    "0",
    "-0.0",
    "1",
    "12345678901234567890",
    "null",
    "true",
    "false",
    "[\"u3\"]",
    "[1]",
    "{\"name\":\"u3\"}",
];

const RULES: &[&str] = &[
    "found := [g | some g in data.list; g.user == input.x]",
    "found := [[k, g] | some k, g in data.list; input.x == g.user]",
    "found := [[k, g] | some k, g in data.object; g.user == input.x]",
    "found := [g | some g in data.object; g.user.name == input.x]",
    "found := [i | data.list[i].user == input.x]",
    "found := [k | data.object[k].user = input.x]",
    "found := [i | data.list[i][\"0\"].user == input.x]",
    "found := [g | g := data.list[_]; g.at > 20; g.user == input.x]",
    "found := [g | some g in data.list; other := g.other; g.user == input.x; other == 1]",
    "found := [g | some g in data.list; x := input.x; g.user == x]",
    "found := [g | x := input.x; some g in data.list; g == x]",
    "found := [h | some g in data.list; g.user == input.x; some h in data.object; h.at == g.at]",
    "found if { some g in data.list; g.user == input.x }",
    "found if input.x in data.names",
    "found if data.names[_] == input.x",
    "found := [i | data.names[i] == input.x]",
    "found if not input.x in data.names",
    "found if { every g in data.list { not g.user == input.x } }",
    "found := [g | some g in data.list; g.user == input.missing]",
    "found := [g | some g in data.list; not g.user == input.x]",
    "found := [1 | some g in data.list; 1 / g.at == 1; g.user == input.x]",
    "found := [g | some g in data.list; g.user == input.x with input.x as \"u5\"]",
    "found := x if { x := [i | data.list[i].user == input.x] with data.list as [{\"user\": input.x}] }",
    "found := x if { x := [i | data.list[i].user == input.x] with input.x as \"u7\" }",
    "found := [g | some g in input.list; g.user == input.x]",
    "found := [g | some g in data.list; g.user == input.x; g.other == 1]",
    "found := [g | some g in data.list; g.other == 1; y := g.user; input.x == y; g.user == g.user]",
    "found := [g | some g in data.list; y := input.x; y == g.user]",
    "found := [[g, h] | some g in data.list; some h in data.object; g.user == h.user; g.at == 1]",
    "found := [g | some g in {x | some x in data.list}; g.user == input.x]",
    "found := [g | some g in data.list; same; g.user == input.x]\n\nsame if input.x == \"u3\"",
    "found := [[k, input.x, y] | some k in [1, 2]; y := input.x with input.x as k]",
    "found := [[g, y] | some g in data.list; g.user == input.x; y := data.list[0].user with data.list as [g]]",
    "found := [k | some k in [\"u3\", 3]; has with input.x as k]\n\nhas if { some g in data.list; g.user == input.x }",
    "found := [a, b, c, d, e] if { a := now; b := now with input.x as 7; c := now; d := first; e := first with data.list as [8] }\n\nnow := input.x\n\nfirst := data.list[0]",
];

/// Numbers of plain items: too few for lookups, and enough.
const PLAIN_ITEM_COUNTS: &[usize] = &[12, 50];

#[test]
fn what_is_looked_up_is_what_there_is() {
    let texts: Vec<_> = PLAIN_ITEM_COUNTS
        .iter()
        .map(|plain| documents(*plain))
        .collect();
    for (rule, text) in RULES
        .iter()
        .flat_map(|rule| texts.iter().map(move |text| (rule, text)))
    {
        let query = query(&policy(&format!("package p\n\n{rule}\n")));
        // Each policy has its own lookups.
        let documents = from_json(text.as_bytes()).expect("the test is sound");
        for value in SEARCHED_VALUES {
            let list = documents.get("list").expect("the test is sound");
            let input = format!(r#"{{"x":{value},"list":{list}}}"#);
            let all = evaluate_input(&query, &documents, &input, true);
            for _ in 0..SEARCHES_BEFORE_INDEX {
                let found = evaluate_input(&query, &documents, &input, false);
                assert_eq!(found, all, "{rule} with {value}");
            }
        }
    }
}

#[test]
fn a_change_is_seen() {
    let query = query(&policy(
        "package p\n\nfound := [i | data.list[i].user == input.x]\n",
    ));
    let mut documents = from_json(documents(200).as_bytes()).expect("the test is sound");
    let input = r#"{"x":"new"}"#;
    let answers_of = |documents: &Value| {
        let answers =
            (0..SEARCHES_BEFORE_INDEX).map(|_| evaluate_input(&query, documents, input, false));
        let mut answers: Vec<_> = answers.collect();
        answers.dedup();
        answers
    };
    assert_eq!(answers_of(&documents), [r#"[{"x":[]}]"#]);
    let before = documents.clone();
    // Shared with the previous document.
    change(&mut documents, |list| {
        let item = list
            .get_mut(150)
            .and_then(Value::as_object_mut)
            .expect("the test is sound");
        item.insert("user", Value::from("new"));
    });
    assert_eq!(answers_of(&documents), [r#"[{"x":[150]}]"#]);
    assert_eq!(answers_of(&before), [r#"[{"x":[]}]"#]);
    drop(before);
    // In place.
    change(&mut documents, |list| drop(list.remove(0)));
    assert_eq!(answers_of(&documents), [r#"[{"x":[149]}]"#]);
    change(&mut documents, |list| {
        for item in list.iter_mut() {
            *item = Value::object([("user", Value::from("old"))]);
        }
        list.push(Value::object([("user", Value::from("new"))]));
    });
    assert_eq!(answers_of(&documents), [r#"[{"x":[216]}]"#]);
}

fn change(documents: &mut Value, change: impl FnOnce(&mut rego::value::Array)) {
    let list = documents
        .as_object_mut()
        .expect("the test is sound")
        .get_mut("list")
        .expect("the test is sound");
    let Value::Array(list) = list else {
        panic!("no list");
    };
    change(list);
}
