//! Partial evaluation: residuals, loaded as policies, are satisfied by the same inputs as their
//! queries.

#![expect(clippy::panic, reason = "a broken table ends the test")]

use rego::value::from_json;
use rego::{
    Compiler, Errors, Evaluation, Module, PartialOptions, PartialQuery, Policy, Query,
    QueryOptions, References, Residual, Value,
};

const POLICY: &str = r#"package p

import rego.v2

other_than_one if {
	some x in input.l
	x != 1
}

without_b if {
	other_than_one
	not input.b
}

used_twice if {
	other_than_one
	not without_b
}

number := count(input.l)

letter := "a" if input.a

starts(x) if {
	some y in [x]
	startswith(y, "a")
}

differs(x) if {
	some y in [x]
	not startswith(y, "a")
}

same(x, y) if {
	some a in [x]
	some b in [y]
	a == b
}

either if input.a == 1 or input.b == 1

both if input.a == 1 and input.b == 1

neither if not { input.a == 1 or input.b == 1 }

braces if {
	y := input.b
	{
		y != 2
		some x in input.l
		x == y
	} or not { count(input.l) > 1 }
}

few if (not count([x | some x in input.l; x != 1]) < 2) or input.a == 2

lacks := 1 if {
	input.a
} else := 2 if {
	not "a" in {x | x := input.l[_]}
}

fixed := 1 if {
	input.a
} else := 2 if {
	not "a" in {x | x := data.q.l[_]}
}

plain := 2 if {
	not "a" in {x | x := data.q.l[_]}
}

every_either if every x in input.l { x == 1 or x == input.a }

grouped[x] contains y if {
	x := input.a
	y := {"a": input.b}
}

grouped[x] contains y if {
	x := input.b
	y := {"a": 1}
	count(input.l) < 2
}

deep if count([x | walk([x | walk(input.l, [x, _])], [x, _])]) > 3
"#;

const INPUTS: &[&str] = &[
    "{}",
    r#"{"a": 1}"#,
    r#"{"a": 1, "b": 1, "l": [1]}"#,
    r#"{"a": 2, "b": 1, "l": [1, 2]}"#,
    r#"{"a": false, "b": 2, "l": [2, 3]}"#,
    r#"{"b": false, "l": [2]}"#,
    r#"{"a": "a", "b": 3, "l": []}"#,
    r#"{"a": 1, "b": 2, "l": [1]}"#,
    r#"{"a": 2, "b": 1, "l": []}"#,
    r#"{"a": true, "b": 3, "l": ["a", 3]}"#,
];

/// Queries, and the rules that are not inlined.
const CASES: &[(&str, &[&str])] = &[
    // A rule that is used twice on one path, once under `not`, has separate variables each time.
    ("data.p.used_twice", &[]),
    ("not data.p.used_twice", &[]),
    ("data.p.other_than_one; not data.p.without_b", &[]),
    ("data.p.without_b; not data.p.used_twice", &[]),
    // Copied rules have the types of the rules, which are unknown where they are used.
    ("data.p.starts(data.p.number)", &["data.p.number"]),
    ("data.p.differs(data.p.number)", &["data.p.number"]),
    ("not data.p.starts(data.p.number)", &["data.p.number"]),
    ("data.p.starts(data.p.letter)", &["data.p.letter"]),
    (
        "data.p.same(data.p.letter, data.p.number)",
        &["data.p.letter", "data.p.number"],
    ),
    ("data.p.starts(data.p.number)", &["data.p"]),
    (
        "not data.p.differs(data.p.number)",
        &["data.p.number", "data.p.differs"],
    ),
    // The keywords, evaluated and in copies.
    ("data.p.either", &[]),
    ("not data.p.either", &[]),
    ("data.p.both", &[]),
    ("not data.p.both", &[]),
    ("data.p.neither", &[]),
    ("not data.p.neither", &[]),
    ("data.p.braces", &[]),
    ("not data.p.braces", &[]),
    ("data.p.few", &[]),
    ("not data.p.few", &["data.p.few"]),
    ("data.p.braces", &["data.p"]),
    ("data.p.few", &["data.p"]),
    ("data.p.few with input.b as 1", &[]),
    ("data.p.braces with input.a as 1", &[]),
    ("data.p.lacks", &[]),
    ("data.p.lacks", &["data.p.lacks"]),
    ("data.p.fixed", &["data.p.fixed"]),
    ("data.p.plain", &["data.p.plain"]),
    ("_ = data.p", &[]),
    ("data.p.every_either", &[]),
    ("data.p.every_either with input.b as 2", &[]),
    // Sets below a path to which several rules add are compared as a whole.
    ("data.p.grouped[x] = {{\"a\": 1}}", &[]),
    ("data.p.grouped[input.a] == {{\"a\": 1}}", &[]),
    ("not data.p.grouped[input.a] = {{\"a\": 1}}", &[]),
    ("data.p.grouped[1] == {{\"a\": 1}}", &[]),
    ("count(data.p.grouped[input.b]) == 2", &[]),
    ("data.p.grouped[x][{\"a\": 1}]", &[]),
    ("{\"a\": 2} in data.p.grouped[_]", &["data.p.grouped"]),
    // A variable of a closure may have the name of one that is bound later.
    ("data.p.deep", &[]),
    ("data.p.deep", &["data.p.deep"]),
];

#[test]
fn residuals_hold_as_their_queries_do() -> Result<(), Box<dyn std::error::Error>> {
    let documents = Value::Null;
    for (query, opaque) in CASES {
        let truth = format!("package truth\n\nq if {{ {query} }}\n");
        let policy = compiled(vec![
            Module::parse("p.rego", POLICY)?,
            Module::parse("truth.rego", &truth)?,
        ])?;
        let options = PartialOptions {
            disable_inlining: References::parse(opaque.iter().copied())?,
            ..PartialOptions::default()
        };
        let partial = PartialQuery::parse(&policy, query, &QueryOptions::default())?;
        let residual = partial.evaluate(&mut Evaluation::new(&documents), &options)?;
        let loaded = loaded(&residual);
        let loaded = loaded.unwrap_or_else(|errors| panic!("{query} {opaque:?}: {errors}"));
        for input in INPUTS {
            let expected = holds(&policy, "data.truth.q", input)?;
            let found = holds(&loaded, "data.residual.q", input)?;
            assert_eq!(
                found, expected,
                "{query} {opaque:?} of {input}: {residual:?}"
            );
        }
    }
    Ok(())
}

fn compiled(modules: Vec<Module>) -> Result<Policy, Errors> {
    let empty = Policy::default();
    let mut compiler = Compiler::new(&empty);
    for (at, module) in modules.into_iter().enumerate() {
        compiler = compiler.put(&format!("{at}.rego"), module);
    }
    compiler.compile()
}

/// Compiles a policy whose rule `data.residual.q` is satisfied if the residual is.
fn loaded(residual: &Residual) -> Result<Policy, Errors> {
    let mut main = Module::parse("residual.rego", "package residual\n\nq if true\n")?;
    let always = main.rules.pop();
    for body in &residual.queries {
        let mut rule = always.clone();
        if let Some(rule) = &mut rule
            && !body.is_empty()
        {
            rule.body.clone_from(body);
        }
        main.rules.extend(rule);
    }
    let modules = std::iter::once(main).chain(residual.support.iter().cloned());
    compiled(modules.collect())
}

fn holds(policy: &Policy, query: &str, input: &str) -> Result<bool, Box<dyn std::error::Error>> {
    // A residual that is never satisfied has no such rule.
    let Ok(query) = Query::parse(policy, query, &QueryOptions::default()) else {
        return Ok(false);
    };
    let documents = Value::Null;
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = Some(from_json(input.as_bytes())?);
    Ok(!query.evaluate(&mut evaluation)?.is_empty())
}
