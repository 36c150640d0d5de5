use super::*;

/// Checks the translation of a query with the rules of a support module.
#[track_caller]
fn check(query: &str, rules: &str, expected: &str) {
    let module = format!("package partial.t\n\n{rules}\n");
    let found = match filter_with(query, &module) {
        Ok(filter) => written(
            &filter,
            Target::Sql(Dialect::PostgreSql),
            &Mappings::default(),
        ),
        Err(refusals) => refusal_messages(&refusals),
    };
    assert_eq!(found, expected, "{query} of {rules}");
}

#[test]
fn rules_stand_for_their_bodies() {
    let rules = "h if input.t.a == 1\n\nh if input.t.b == 2";
    check("data.partial.t.h", rules, "WHERE (t.a = 1 OR t.b = 2)");
    check(
        "not data.partial.t.h",
        rules,
        "WHERE (t.a IS DISTINCT FROM 1 AND t.b IS DISTINCT FROM 2)",
    );
    check("data.partial.t.h == false", rules, "never");
    check(
        "data.partial.t.h",
        "default h := true\n\nh := false if input.t.a == 1",
        "WHERE t.a IS DISTINCT FROM 1",
    );
    check(
        "data.partial.t.h",
        "h if input.t.a == 1 else := false if input.t.b == 2 else := true",
        "WHERE (t.a = 1 OR (t.a IS DISTINCT FROM 1 AND t.b IS DISTINCT FROM 2))",
    );
    check(
        "data.partial.t.h > 5",
        "h := input.t.a if input.t.b == 1",
        "WHERE (t.b = 1 AND t.a > 5)",
    );
    check(
        "data.partial.t.h",
        "h := x if x = input.t.a",
        "WHERE to_jsonb(t.a) IS DISTINCT FROM to_jsonb(FALSE)",
    );
}

#[test]
fn values_in_conflict_are_no_values() {
    check(
        "data.partial.t.h",
        "h := true if input.t.a == 1\n\nh := false if input.t.b == 2",
        "WHERE (t.a = 1 AND t.b IS DISTINCT FROM 2)",
    );
    check(
        "data.partial.t.h == 7",
        "default h := 7\n\nh := true if input.t.a == 1\n\nh := false if input.t.b == 2",
        "WHERE (t.a IS DISTINCT FROM 1 AND t.b IS DISTINCT FROM 2)",
    );
}

#[test]
fn sets_and_functions_are_refused() {
    check(
        "data.partial.t.h",
        "h contains 1 if input.t.a == 1",
        "use of multi-value rule in data.partial.t.h",
    );
    check(
        "data.partial.t.h",
        "h(x) if x == 1",
        "use of function in data.partial.t.h",
    );
}
