//! Policies of one shape, small and ten times as large: the compilation cost must not be quadratic
//! in the source length. Nesting of any kind must not exhaust the stack of a thread.

#![expect(clippy::unwrap_used, reason = "a failing test panics")]

use std::fmt::Write as _;

use rego::{Compiler, Errors, Module, Policy, Query, QueryOptions};
use rstest::rstest;

use crate::support::processor_time;

/// Maximum cost ratio for a source ten times as long; quadratic growth would cost a hundred times
/// as much.
const MAX_RATIO: u32 = 30;

/// Template of a source: prefix, repeated line, suffix. In a line, `@` is the number of the line,
/// `<` that of the previous one.
struct Shape {
    name: &'static str,
    first: &'static str,
    line: &'static str,
    last: &'static str,
    lines: usize,
}

const fn shape(
    name: &'static str,
    lines: usize,
    first: &'static str,
    line: &'static str,
    last: &'static str,
) -> Shape {
    Shape {
        name,
        first,
        line,
        last,
        lines,
    }
}

const SHAPES: &[Shape] = &[
    shape("a chain of rules", 40, "r0 if input.x", "r@ if r<", ""),
    shape(
        "a chain of values",
        40,
        "r0 := 1",
        "r@ := v if v := r< + 1",
        "",
    ),
    shape(
        "a chain of sets",
        40,
        "r0 contains 1",
        "r@ contains x if some x in r<",
        "",
    ),
    shape(
        "a chain of functions",
        40,
        "r0(x) := x",
        "r@(x) := r<(x)",
        "",
    ),
    shape("rules of one name", 64, "", "p if input.x == @", ""),
    shape("functions of one name", 64, "", "p(@) := @", ""),
    shape("members of one object", 48, "", "p.k@ := @ if input.x", ""),
    shape(
        "members beside any member",
        48,
        "p[x] := 1 if x := input.y",
        "p.k@ := @ if input.x",
        "",
    ),
    shape(
        "members that are read one by one",
        32,
        "p[x] := 1 if x := input.y",
        "p.k@ := @ if input.x\nq@ if p.k@",
        "",
    ),
    shape(
        "steps into a large constant",
        32,
        "q0 := 1",
        "p@ := c.k1",
        "c := {<<\"k@\": @,>> \"k\": 1}",
    ),
    shape("imports", 64, "", "import data.b.c@", "p if c1"),
    shape("expressions", 40, "p if {", "x@ := input.x[@]", "}"),
    shape(
        "expressions in the wrong order",
        24,
        "p if {",
        "x< = x@",
        "x@ = 1 }",
    ),
    shape("variables that nobody binds", 16, "p if {", "x< == x@", "}"),
    shape(
        "comprehensions",
        32,
        "p if {",
        "x@ := [y | y := input.x[_]]",
        "}",
    ),
    shape("negations", 48, "p if {", "not input.x@", "}"),
    shape("modifiers", 48, "p if true", "with input.x@ as @", ""),
    shape(
        "modified rules",
        32,
        "q if data.b.x",
        "p@ if q with data.b.x as @",
        "",
    ),
    shape(
        "reads of unknown rules",
        32,
        "",
        "r@ := data.b[input.x@]",
        "",
    ),
    shape(
        "rules that need themselves",
        24,
        "r0 if r@@",
        "r@ if r<",
        "",
    ),
    shape("calls of nothing", 48, "", "p@ if nothing.x@(1)", ""),
    shape("METADATA", 32, "", "# METADATA\n# title: t@\np@ := 1", ""),
    shape("types within types", 24, "r0 := 1", "r@ := [r<]", ""),
];

/// Generates the source of a shape. `<<…>>` is repeated once per line, `@@` is the number of lines.
fn text(shape: &Shape, lines: usize) -> String {
    let fixed = |part: &str| {
        let part = part.replace("@@", &lines.to_string());
        match part.split_once("<<") {
            None => part.replace('@', &lines.to_string()),
            Some((before, rest)) => {
                let (each, after) = rest.split_once(">>").unwrap();
                let all = (1..=lines).map(|number| each.replace('@', &number.to_string()));
                format!("{before}{}{after}", all.collect::<String>())
            }
        }
    };
    let mut text = format!("package a\n{}\n", fixed(shape.first));
    for number in 1..=lines {
        let line = shape.line.replace('@', &number.to_string());
        writeln!(text, "{}", line.replace('<', &(number - 1).to_string())).unwrap();
    }
    text.push_str(&fixed(shape.last));
    text
}

fn compile(text: &str) -> Result<Policy, Errors> {
    let module = Module::parse("m", text)?;
    Compiler::new(&Policy::default()).put("m", module).compile()
}

#[test]
fn ten_times_the_text_does_not_cost_its_square() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let [short, long] = [1, 10].map(|times| text(shape, times * shape.lines));
        let costs =
            processor_time::compare(MAX_RATIO, || drop(compile(&short)), || drop(compile(&long)));
        if let Err(costs) = costs {
            wrong.push(format!("{}: {costs}", shape.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The shapes measure compilation, so most of them must be accepted.
#[test]
fn shapes_are_policies() {
    let refused = SHAPES
        .iter()
        .filter(|shape| compile(&text(shape, 40)).is_err());
    let refused: Vec<_> = refused.map(|shape| shape.name).collect();
    assert_eq!(
        refused,
        [
            "variables that nobody binds",
            "rules that need themselves",
            "calls of nothing"
        ]
    );
}

/// Opening and closing delimiters of a nesting level.
const NESTINGS: &[(&str, &str)] = &[
    ("[", "]"),
    ("{\"a\": ", "}"),
    ("{", "}"),
    ("f(", ")"),
    ("input[", "]"),
    ("[x | x := ", "]"),
    ("{x | x = ", "}"),
    ("{x: y | y := 1; x := ", "}"),
    ("{\"a\": [z | z := ", "]}"),
    ("[x, y] = [1, [z | ", "]]"),
    ("f([z | ", "])"),
    ("every x in [1] { x; ", " }"),
    ("every x in [y | y := 1; ", "] { x }"),
    ("$\"{", "}\""),
    ("1 + (", ")"),
    ("[1 | true with input as ", "]"),
    ("not { ", " }"),
    ("not { x := [y | y := ", "] }"),
];

#[test]
fn nesting_does_not_exhaust_the_stack() {
    for (open, close) in NESTINGS {
        for depth in [20, 240, 400] {
            let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            // A thread has a stack of 2 MiB, including those of a server.
            let thread = std::thread::Builder::new().stack_size(2 << 20);
            let worker = thread.spawn(move || {
                if let Ok(policy) = compile(&format!("package a\nf(x) := x\np if {{ {nested} }}")) {
                    let tree = policy.module("m").unwrap().tree();
                    assert_eq!(tree.rules, tree.clone().rules);
                    let _ = tree.to_json().to_string();
                }
                let _ = Query::parse(&Policy::default(), &nested, &QueryOptions::default());
            });
            worker.unwrap().join().unwrap();
        }
    }
}

#[rstest]
#[case::rules(format!("package a\n{}", "f(x) := g(x)\n".repeat(1000) + "g(x) := x"))]
#[case::items(format!("package a\np := [{}1]", "abs(1), ".repeat(1000)))]
#[case::expressions(format!("package a\np if {{ {}true }}", "1 + 1 == 2; ".repeat(1000)))]
#[case::negations(format!("package a\np if {{ {}true }}", "not abs(1) in [2]; ".repeat(1000)))]
fn long_texts_are_not_nested_ones(#[case] text: String) {
    assert!(compile(&text).is_ok());
}

#[test]
fn places_have_a_depth() {
    for (text, expected) in [
        (
            format!("package a{}\np := 1", ".b".repeat(5000)),
            "the path of the package has too many steps",
        ),
        (
            format!("package a\np{} := 1", ".b".repeat(5000)),
            "the reference of the rule has too many steps",
        ),
    ] {
        let found = compile(&text).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}
