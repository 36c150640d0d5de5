use super::*;

#[track_caller]
fn check(queries: &str, expected: &[&str]) {
    let refusals = filter(queries).unwrap_err();
    let refusals: Vec<&str> = refusals.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(refusals, expected, "{queries}");
}

#[test]
fn refuses_what_is_no_condition() {
    let ground = "both rhs and lhs non-scalar/non-ground";
    let cases = [
        ("input.t[0] == 1", "equal: invalid ref operand: input.t[0]"),
        (
            "input.t[input.t.c] == 1",
            "equal: invalid ref operand: input.t[input.t.c]",
        ),
        ("input.t[_] == 1", "equal: invalid ref operand: input.t[_]"),
        ("input.t == 1", "equal: invalid ref operand: input.t"),
        ("input.long == 1", "equal: invalid ref operand: input.long"),
        ("data.t.u == 1", "equal: invalid ref operand: data.t.u"),
        ("input == 1", "equal: invalid ref operand: input"),
        (
            "lower(input.t.s) == \"a\"",
            "equal: nested call operand: lower(input.t.s)",
        ),
        (
            "regex.match(\"a\", input.t.s)",
            "invalid builtin `regex.match`",
        ),
        (
            "data.f.g(input.t.s)",
            "invalid data reference \"data.f.g(input.t.s)\"",
        ),
        ("input.t.x == [1]", ground),
        ("input.t.x < {\"a\": 1}", ground),
        (
            "startswith(\"a\", input.t.s)",
            "rhs of startswith must be known",
        ),
        (
            "\"a\" in input.t.s",
            "rhs of internal.member_2 must be known",
        ),
        ("input.t.s in {\"a\": 1}", "invalid use of \"... in ...\""),
        ("1, input.t.s in [1]", "invalid use of \"... in ...\""),
        ("input.t.s == 1 with input.x as 2", "\"with\" not permitted"),
        ("every x in input.t { x == 1 }", "\"every\" not permitted"),
        ("input.t", "invalid statement \"input.t\""),
        ("data.p.q", "invalid data reference \"data.p.q\""),
        ("x > 1", ground),
    ];
    for (query, expected) in cases {
        check(query, &[expected]);
    }
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
