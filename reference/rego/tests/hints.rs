//! Hints for references to missing parts of the input.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use rego::value::from_json;
use rego::{Compiler, Module, Policy, References, Value};
use rstest::rstest;

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

#[rstest]
#[case::similar_name(
    "mistyped",
    "input.fruits",
    "{}",
    "3: input.fruit.cost undefined, did you mean input.fruits.cost?"
)]
#[case::similar_name_of_an_unknown_member(
    "mistyped",
    "input.fruits.cost",
    r#"{"fruit": {}}"#,
    "3: input.fruit.cost undefined, did you mean input.fruits.cost?"
)]
#[case::known_input("mistyped", "input.fruits", r#"{"fruit": {"cost": 20}}"#, "")]
#[case::unknown_is_what_is_meant("mistyped", "input.fruit", "{}", "")]
#[case::unknown_member_is_what_is_meant("mistyped", "input.fruit.cost", "{}", "")]
#[case::longer_name(
    "mistyped",
    "input.fruitsss",
    "{}",
    "3: input.fruit.cost undefined, did you mean input.fruitsss.cost?"
)]
#[case::too_long_a_name("mistyped", "input.fruitssss", "{}", "")]
#[case::too_short_a_name("mistyped", "input.f", "{}", "")]
#[case::name_of_a_document("mistyped", "data.fruits", "{}", "")]
#[case::beside_what_is_meant(
    "beside",
    "input.fruits",
    "{}",
    "5: input.fruts.price undefined, did you mean input.fruits.price?"
)]
#[case::operand(
    "operand",
    "input.fruits",
    "{}",
    "7: input.friuts.weight undefined, did you mean input.fruits.weight?"
)]
#[case::negation("negated", "input.fruits", "{}", "")]
#[case::item(
    "item",
    "input.fruits",
    "{}",
    "12: input.fruitx.names undefined, did you mean input.fruits.names?"
)]
#[case::through_a_rule(
    "through",
    "input.fruits",
    "{}",
    "21: input.fruitx.ripe undefined, did you mean input.fruits.ripe?"
)]
#[case::branch(
    "chosen",
    "input.fruits",
    "{}",
    "24: input.fruits2.kind undefined, did you mean input.fruits.kind?"
)]
#[case::quoted_name(
    "beside",
    "input[\"fru its\"]",
    "{}",
    "5: input.fruits.price undefined, did you mean input[\"fru its\"].price?\n\
     5: input.fruts.price undefined, did you mean input[\"fru its\"].price?"
)]
#[case::documents("documents", "input.fruits", "{}", "")]
#[case::missing_rule("missing", "input.fruits", "{}", "")]
fn references_to_nothing_are_told_with_what_may_be_meant(
    #[case] rule: &str,
    #[case] unknown: &str,
    #[case] input: &str,
    #[case] expected: &str,
) {
    let module = Module::parse("p.rego", POLICY).expect("a module");
    let compiler = Compiler::new(&Policy::default()).put("p.rego", module);
    let policy = compiler.compile().expect("a policy");
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
    assert_eq!(messages.join("\n"), expected);
}
