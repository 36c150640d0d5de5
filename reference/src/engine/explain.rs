//! Traces of decisions on base documents: the one expression that asks for the document.

use std::sync::Arc;

use rego::Value;
use rego::value::Number;

use super::store;
use crate::http::Request;

/// The steps of a query that finds its document, and of one that does not.
const FOUND: &[(&str, Node)] = &[
    ("Enter", Node::Body),
    ("Eval", Node::Expr),
    ("Exit", Node::Body),
    ("Redo", Node::Body),
    ("Redo", Node::Expr),
];
const FAILED: &[(&str, Node)] = &[
    ("Enter", Node::Body),
    ("Eval", Node::Expr),
    ("Fail", Node::Expr),
];

/// The variable that the query binds.
const ANSWER: &str = "$term1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Body,
    Expr,
}

/// The explanation that the request asks for by `explain`, if any.
pub(super) fn explanation(request: &Request, result: Option<&Value>) -> Option<Value> {
    let asked = request.query.iter().filter(|(name, _)| name == "explain");
    let mut asked = asked.map(|(_, value)| value.as_str());
    let mode = asked.find(|value| ["notes", "fails", "full", "debug"].contains(value))?;
    let steps = match (mode, result) {
        ("full" | "debug", Some(_)) => FOUND,
        ("full", None) => FAILED,
        ("notes" | "fails", Some(_)) => &[],
        _ => return None,
    };
    if request.flag("pretty") {
        return Some(lines(steps, &request.segments));
    }
    let events = steps.iter().enumerate().map(|(at, (op, node))| {
        // The answer is bound by the expression, so whatever follows it knows the answer.
        let bound = result.filter(|_| at >= 2);
        event(op, *node, &request.segments, bound)
    });
    Some(Value::from(events.collect::<Vec<_>>()))
}

fn lines(steps: &[(&str, Node)], path: &[String]) -> Value {
    if steps.is_empty() {
        return Value::from(vec![Value::from("")]);
    }
    let query = format!("{} = _", reference(path));
    let lines = steps.iter().map(|(op, node)| {
        let inner = *node == Node::Expr || *op == "Exit";
        let depth = if inner { "| " } else { "" };
        Value::from(format!("query:1     {depth}{op} {query}"))
    });
    Value::from(lines.collect::<Vec<_>>())
}

fn event(op: &str, node: Node, path: &[String], bound: Option<&Value>) -> Value {
    let expr = expression(path);
    let (kind, node) = match node {
        Node::Body => ("body", Value::from(vec![expr])),
        Node::Expr => ("expr", expr),
    };
    let locals = bound.map(|value| {
        Value::object([
            ("key", term("var", Value::from(ANSWER))),
            ("value", value_term(value)),
        ])
    });
    Value::object([
        ("op", Value::from(op)),
        ("query_id", Value::from(0)),
        ("parent_id", Value::from(0)),
        ("type", Value::from(kind)),
        ("node", node),
        (
            "locals",
            Value::from(locals.into_iter().collect::<Vec<_>>()),
        ),
    ])
}

/// `data.PATH = $term1`
fn expression(path: &[String]) -> Value {
    let mut reference = vec![term("var", Value::from("data"))];
    reference.extend(path.iter().map(|segment| match small_integer(segment) {
        Some(number) => term("number", Value::Number(Number::from(number))),
        None => term("string", Value::from(segment.as_str())),
    }));
    let equals = vec![term("var", Value::from("eq"))];
    let terms = vec![
        term("ref", Value::from(equals)),
        term("ref", Value::from(reference)),
        term("var", Value::from(ANSWER)),
    ];
    Value::object([("index", Value::from(0)), ("terms", Value::from(terms))])
}

fn term(kind: &str, value: Value) -> Value {
    Value::object([("type", Value::from(kind)), ("value", value)])
}

fn value_term(value: &Value) -> Value {
    let inner = match value {
        Value::Array(items) => Value::from(items.iter().map(value_term).collect::<Vec<_>>()),
        Value::Object(members) => {
            let pairs = members.iter().map(|(name, value)| {
                let name = value_term(name);
                Value::from(vec![name, value_term(value)])
            });
            Value::from(pairs.collect::<Vec<_>>())
        }
        scalar => scalar.clone(),
    };
    term(value.kind(), inner)
}

/// The path as a reference in the policy language.
fn reference(path: &[String]) -> String {
    let mut text = "data".to_owned();
    for segment in path {
        let mut chars = segment.chars();
        let first = chars
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
        if let Some(number) = small_integer(segment) {
            text.push_str(&format!("[{number}]"));
        } else if first && chars.all(|char| char.is_ascii_alphanumeric() || char == '_') {
            text.push_str(&format!(".{segment}"));
        } else {
            text.push_str(&format!("[{}]", Value::from(segment.as_str())));
        }
    }
    text
}

fn small_integer(segment: &str) -> Option<i64> {
    store::integer(segment)?.parse().ok()
}
