//! Partial evaluation: residual queries.

use rego::value::from_json;
use rego::{
    Compiler, Evaluation, Module, PartialOptions, PartialQuery, Policy, QueryOptions, References,
    Residual, Value,
};
use rstest::rstest;

/// Rules that the queries refer to.
const POLICY: &str = r#"package p

exact if input.a == 1

above if input.a > 5

either if input.a == 1

either if input.b == 2

both if {
	input.a == 1
	input.b == 2
}

never if {
	input.a == 1
	1 == 2
}

default open := false

open if input.a == 1

default shut := true

shut := false if input.a == 1

level := 1 if {
	input.a == 1
} else := 2 if {
	input.b == 2
}

names contains input.name if input.a == 1

names contains "root"

ages[name] := age if {
	name := input.name
	age := data.base.age
}

twice(x) := 2 * x

is_one(x) if x == 1

all if {
	every x in [1, 2] {
		input.limit > x
	}
}

some_item if {
	some x in input.items
	x == 1
}

has_name if {
	name := input.name
}

other_item if {
	item := input.at[_]
	not item == 3
}

tags_of_item if {
	item := input.at[_]
	input.b == [tags | tags := data.rows[item].tags]
}

each_tag if {
	tags := input.at[_]
	every tag in tags {
		tag > 1
	}
}

grant if data.base.grants[input.user] == "all"

counted if count([x | some x in input.items; x > data.base.age]) > 1
"#;

const DOCUMENTS: &str =
    r#"{"base": {"age": 18, "grants": {"ann": "all", "bob": "none", "cy": "all"}}}"#;

#[test]
fn conditions_are_what_is_left() -> Result<(), Box<dyn std::error::Error>> {
    let cases: &[(&str, &[&str])] = &[
        ("data.p.exact", &["input.a = 1"]),
        ("data.p.above", &["gt(input.a, 5)"]),
        ("data.p.either", &["input.a = 1", "input.b = 2"]),
        ("data.p.both", &["input.a = 1; input.b = 2"]),
        ("data.p.never", &[]),
        ("not data.p.never", &[""]),
        ("not data.p.either", &["not input.a = 1; not input.b = 2"]),
        ("not data.p.both", &["not input.a = 1", "not input.b = 2"]),
        ("data.p.open", &["input.a = 1"]),
        ("data.p.open == false", &["not input.a = 1"]),
        ("not data.p.open", &["not input.a = 1"]),
        ("data.p.shut", &["not input.a = 1"]),
        ("data.p.level == 2", &["not input.a = 1; input.b = 2"]),
        ("data.p.level == 1", &["input.a = 1"]),
        ("data.p.level == 3", &[]),
        ("data.p.names[\"x\"]", &["input.a = 1; \"x\" = input.name"]),
        ("data.p.names[\"root\"]", &[""]),
        ("data.p.ages.ann == 18", &["\"ann\" = input.name"]),
        ("data.p.ages.ann == 19", &[]),
        ("data.p.twice(input.a) == 4", &["mul(2, input.a, 4)"]),
        ("data.p.is_one(input.a)", &["input.a = 1"]),
        ("data.p.is_one(1)", &[""]),
        ("data.p.all", &["gt(input.limit, 1); gt(input.limit, 2)"]),
        ("data.p.some_item", &["input.items[V] = 1"]),
        ("data.p.has_name", &["V = input.name"]),
        (
            "data.p.grant",
            &["\"ann\" = input.user", "\"cy\" = input.user"],
        ),
        ("x := 3; input.a == x", &["input.a = 3"]),
        ("1 + 1 == 2", &[""]),
        ("x = 3; input.a = x", &["input.a = 3; x = 3"]),
        ("x = input.a; y = x", &["x = input.a; y = input.a"]),
        (
            "data.base.grants[x] = \"none\"; input.a = x",
            &["input.a = \"bob\"; x = \"bob\""],
        ),
        ("input.a == input.a", &["V = input.a"]),
    ];
    let mut wrong = Vec::new();
    for (query, expected) in cases {
        let residual = residual(query, &PartialOptions::default())?;
        let formatted = format_queries(&residual);
        if formatted != *expected || !residual.support.is_empty() {
            wrong.push(format!("{query}: {formatted:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[rstest]
#[case::operand("4 >= data.rows[_].a", "gte(4, data.rows[V].a)")]
#[case::conditions_of_one_item(
    "x := data.rows[_].a; x > 4; x < 9",
    "gt(data.rows[V].a, 4); lt(data.rows[V].a, 9)"
)]
#[case::other_input(
    "some r in data.rows; r.a > 4; r.b == input.b",
    "gt(data.rows[V].a, 4); data.rows[V].b = input.b"
)]
#[case::in_a_list(
    "[data.rows[_].a, 1] == input.pair",
    "[data.rows[V].a, 1] = input.pair"
)]
#[case::index_in_the_input("data.rows[input.at[_]].a == 1", "data.rows[input.at[V]].a = 1")]
#[case::nested_call("data.rows[_].a + 1 > 3", "gt(plus(data.rows[V].a, 1), 3)")]
#[case::count("count(data.rows[_].tags) > 1", "gt(count(data.rows[V].tags), 1)")]
// If the item is undefined, the expression that uses it is still satisfied: it is retained.
#[case::item_that_may_be_undefined("data.p.other_item", "V = input.at[V]; not V = 3")]
#[case::comprehension(
    "data.p.tags_of_item",
    "V = input.at[V]; input.b = [V | V = data.rows[V].tags]"
)]
#[case::every("data.p.each_tag", "every V, V in input.at[V] { gt(V, 1) }")]
fn references_stand_where_they_are_asked(
    #[case] query: &str,
    #[case] expected: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let options = PartialOptions {
        unknowns: References::parse(["data.rows", "input"])?,
        ..PartialOptions::default()
    };
    let formatted = format_queries(&residual(query, &options)?);
    assert_eq!(formatted, [expected]);
    Ok(())
}

#[rstest]
#[case::disabled_inlining(
    "data.p.exact",
    &["data.p.exact"],
    &["data.partial.p.exact"],
    "exact = true if { input.a = 1 }"
)]
#[case::set(
    "count(data.p.names) == 1",
    &[],
    &["count(data.partial.p.names, 1)"],
    "names contains \"root\" if { true }"
)]
#[case::negation("not data.p.above", &[], &["not data.partial.__not"], "if { gt(input.a, 5) }")]
#[case::with(
    "data.p.exact with input.b as 3",
    &[],
    &["data.partial.p.exact with input.b as 3"],
    "exact = true if { input.a = 1 }"
)]
fn rules_support_what_cannot_be_inlined(
    #[case] query: &str,
    #[case] opaque: &[&str],
    #[case] expected: &[&str],
    #[case] rule: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let options = PartialOptions {
        disable_inlining: References::parse(opaque.iter().copied())?,
        ..PartialOptions::default()
    };
    let residual = residual(query, &options)?;
    let found = format_queries(&residual);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
    let mut rules = residual.support.iter().flat_map(|module| &module.rules);
    let is_there = rules.any(|found| found.to_string().contains(rule));
    assert!(is_there, "{:?}", residual.support);
    Ok(())
}

#[test]
fn explosions_end() -> Result<(), Box<dyn std::error::Error>> {
    // Each line doubles the work of the next one.
    let mut text = String::from("package q\n\nn0 if input.a == 0\n\nn0 if input.b == 0\n");
    for at in 1..40 {
        text.push_str(&format!(
            "\nn{at} if {{\n\tn{0}\n\tinput.c{at} == 1\n}}\n\nn{at} if {{\n\tn{0}\n\tinput.d{at} == 1\n}}\n",
            at - 1
        ));
    }
    let policy = policy(&text)?;
    let query = PartialQuery::parse(&policy, "data.q.n39", &QueryOptions::default())?;
    let documents = Value::Null;
    let evaluated = query.evaluate(&mut Evaluation::new(&documents), &PartialOptions::default());
    let why = evaluated.err().map(|error| error.to_string());
    assert!(why.is_some_and(|why| why.contains("partial evaluation")));
    Ok(())
}

/// State that one evaluation leaves for the next must be valid for the next one as well.
#[test]
fn a_query_is_evaluated_again_with_other_unknowns_and_inputs()
-> Result<(), Box<dyn std::error::Error>> {
    let policy = policy(POLICY)?;
    let documents = from_json(DOCUMENTS.as_bytes())?;
    let text = "data.p.both; data.p.open; data.p.ages[name]";
    let parse = || PartialQuery::parse(&policy, text, &QueryOptions::default());
    let again = parse()?;
    for input in [r#"{"a": 1, "b": 2, "name": "n"}"#, r#"{"a": 3}"#] {
        let input = from_json(input.as_bytes())?;
        for unknown in [
            "data.base",
            "input.limit",
            "input.a",
            "input.b",
            "input",
            "input.a",
        ] {
            let options = PartialOptions {
                unknowns: References::parse([unknown])?,
                ..PartialOptions::default()
            };
            let evaluate = |query: &PartialQuery| {
                let mut evaluation = Evaluation::new(&documents);
                evaluation.input = Some(input.clone());
                query.evaluate(&mut evaluation, &options)
            };
            let [again, anew] = [evaluate(&again)?, evaluate(&parse()?)?];
            let [again, anew] = [again, anew].map(|residual| format!("{residual:?}"));
            assert_eq!(again, anew, "{input:?} {unknown}");
        }
    }
    Ok(())
}

fn policy(text: &str) -> Result<Policy, rego::Errors> {
    let module = Module::parse("p.rego", text)?;
    Compiler::new(&Policy::default())
        .put("p.rego", module)
        .compile()
}

fn residual(query: &str, options: &PartialOptions) -> Result<Residual, Box<dyn std::error::Error>> {
    let policy = policy(POLICY)?;
    let documents = from_json(DOCUMENTS.as_bytes())?;
    let query = PartialQuery::parse(&policy, query, &QueryOptions::default())?;
    Ok(query.evaluate(&mut Evaluation::new(&documents), options)?)
}

/// Formats the queries, with one name for all variables.
fn format_queries(residual: &Residual) -> Vec<String> {
    let queries = residual.queries.iter().map(|body| {
        let exprs: Vec<_> = body.iter().map(ToString::to_string).collect();
        let text = exprs.join("; ");
        let mut renamed = String::new();
        let mut rest = text.as_str();
        while let Some((before, tail)) = rest.split_once("__local") {
            renamed.push_str(before);
            renamed.push('V');
            rest = tail.split_once("__1").map_or("", |(_, after)| after);
        }
        renamed + rest
    });
    queries.collect()
}
