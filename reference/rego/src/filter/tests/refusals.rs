use rstest::rstest;

use super::*;

#[track_caller]
fn check(queries: &str, expected: &[&str]) {
    let refusals = filter(queries).unwrap_err();
    let refusals: Vec<&str> = refusals.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(refusals, expected, "{queries}");
}

const NOT_GROUND: &str = "both rhs and lhs non-scalar/non-ground";

#[rstest]
#[case::number_in_a_column("input.t[0] == 1", "equal: invalid ref operand: input.t[0]")]
#[case::reference_in_a_reference(
    "input.t[input.t.c] == 1",
    "equal: invalid ref operand: input.t[input.t.c]"
)]
#[case::variable_in_a_reference("input.t[_] == 1", "equal: invalid ref operand: input.t[_]")]
#[case::table("input.t == 1", "equal: invalid ref operand: input.t")]
#[case::long_name("input.long == 1", "equal: invalid ref operand: input.long")]
#[case::documents("data.t.u == 1", "equal: invalid ref operand: data.t.u")]
#[case::input("input == 1", "equal: invalid ref operand: input")]
#[case::nested_call(
    "lower(input.t.s) == \"a\"",
    "equal: nested call operand: lower(input.t.s)"
)]
#[case::unsupported_function("regex.match(\"a\", input.t.s)", "invalid builtin `regex.match`")]
#[case::function(
    "data.f.g(input.t.s)",
    "invalid data reference \"data.f.g(input.t.s)\""
)]
#[case::list("input.t.x == [1]", NOT_GROUND)]
#[case::comparison_with_an_object("input.t.x < {\"a\": 1}", NOT_GROUND)]
#[case::known_text_on_the_left("startswith(\"a\", input.t.s)", "rhs of startswith must be known")]
#[case::column_as_a_list("\"a\" in input.t.s", "rhs of internal.member_2 must be known")]
#[case::members_of_an_object("input.t.s in {\"a\": 1}", "invalid use of \"... in ...\"")]
#[case::keys_of_a_list("1, input.t.s in [1]", "invalid use of \"... in ...\"")]
#[case::with("input.t.s == 1 with input.x as 2", "\"with\" not permitted")]
#[case::every("every x in input.t { x == 1 }", "\"every\" not permitted")]
#[case::table_alone("input.t", "invalid statement \"input.t\"")]
#[case::documents_alone("data.p.q", "invalid data reference \"data.p.q\"")]
#[case::variable("x > 1", NOT_GROUND)]
fn refuses_what_is_no_condition(#[case] query: &str, #[case] expected: &str) {
    check(query, &[expected]);
}

#[test]
fn shows_all_places() {
    let refusals = filter("input.t == 1; input.t.a == 2; lower(input.t.s)\nx > 1").unwrap_err();
    let places = refusals.iter().map(|refusal| {
        let place = refusal.location.as_ref();
        place.map(|place| (place.row, place.col))
    });
    let places: Vec<_> = places.collect();
    assert_eq!(places, [Some((1, 1)), Some((1, 31)), Some((1, 1))]);
}

#[test]
fn nesting_and_size_have_bounds() {
    let nested = |depth: usize| {
        let open = "(input.t.a == ".repeat(depth);
        format!("{open}true{}", " == true)".repeat(depth))
    };
    assert!(filter("(input.t.a == 1) == true").is_ok());
    check(&nested(100), &["the filter is nested too deep"]);
    let query = format!("input.t.a in [{}]", vec!["1"; 30_000].join(", "));
    check(&query, &["the filter has too many conditions"]);
}
