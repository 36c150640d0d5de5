//! Hints for references to missing parts of the input.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use rego::value::from_json;
use rego::{Compiler, Module, Policy, References, Value};

const POLICY: &str = r"package p

mistyped if input.fruit.cost < 10

beside if input.fruits.price == input.fruts.price

operand if is_number(input.friuts.weight)

negated if not input.fruitz.eaten

item if {
	some x in input.fruitx.names
	x == input.fruits.name
}

through if {
	ripe
	input.fruits.name == 1
}

ripe if input.fruitx.ripe

chosen := 1 if input.fruits.kind == 2
else := 3 if input.fruits2.kind == 2

documents if data.fruits.name == input.fruits.name
";

#[test]
fn references_to_nothing_are_told_with_what_may_be_meant() {
    let module = Module::parse("p.rego", POLICY).expect("a module");
    let compiler = Compiler::new(&Policy::default()).put("p.rego", module);
    let policy = compiler.compile().expect("a policy");
    for (rule, unknown, input, expected) in [
        (
            "mistyped",
            "input.fruits",
            "{}",
            "3: input.fruit.cost undefined, did you mean input.fruits.cost?",
        ),
        (
            "mistyped",
            "input.fruits.cost",
            r#"{"fruit": {}}"#,
            "3: input.fruit.cost undefined, did you mean input.fruits.cost?",
        ),
        ("mistyped", "input.fruits", r#"{"fruit": {"cost": 20}}"#, ""),
        ("mistyped", "input.fruit", "{}", ""),
        ("mistyped", "input.fruit.cost", "{}", ""),
        (
            "mistyped",
            "input.fruitsss",
            "{}",
            "3: input.fruit.cost undefined, did you mean input.fruitsss.cost?",
        ),
        ("mistyped", "input.fruitssss", "{}", ""),
        ("mistyped", "input.f", "{}", ""),
        ("mistyped", "data.fruits", "{}", ""),
        (
            "beside",
            "input.fruits",
            "{}",
            "5: input.fruts.price undefined, did you mean input.fruits.price?",
        ),
        (
            "operand",
            "input.fruits",
            "{}",
            "7: input.friuts.weight undefined, did you mean input.fruits.weight?",
        ),
        ("negated", "input.fruits", "{}", ""),
        (
            "item",
            "input.fruits",
            "{}",
            "12: input.fruitx.names undefined, did you mean input.fruits.names?",
        ),
        (
            "through",
            "input.fruits",
            "{}",
            "21: input.fruitx.ripe undefined, did you mean input.fruits.ripe?",
        ),
        (
            "chosen",
            "input.fruits",
            "{}",
            "24: input.fruits2.kind undefined, did you mean input.fruits.kind?",
        ),
        (
            "beside",
            "input[\"fru its\"]",
            "{}",
            "5: input.fruits.price undefined, did you mean input[\"fru its\"].price?\n\
             5: input.fruts.price undefined, did you mean input[\"fru its\"].price?",
        ),
        ("documents", "input.fruits", "{}", ""),
        ("missing", "input.fruits", "{}", ""),
    ] {
        let path = [Value::from("p"), Value::from(rule)];
        let unknowns = References::parse([unknown]).expect("a reference");
        let input = from_json(input.as_bytes()).expect("an input");
        let hints = policy
            .input_references(&path)
            .hints(&unknowns, Some(&input));
        let messages: Vec<String> = hints
            .iter()
            .map(|hint| format!("{}: {}", hint.location.row, hint.message))
            .collect();
        assert_eq!(messages.join("\n"), expected, "{rule} {unknown}");
    }
}
