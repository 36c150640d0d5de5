use super::*;

#[track_caller]
fn check(queries: &str, variant: Variant, expected: &str) {
    let filter = filter(queries).unwrap();
    let found = written(&filter, Target::Ucast(variant), &Mappings::default());
    assert_eq!(found, expected, "{queries}");
}

#[test]
fn writes_objects() {
    check(
        r#"10 < input.t.n; not input.t.s in {"b", "a"}"#,
        Variant::All,
        r#"{"operator":"and","type":"compound","value":[{"field":"t.n","operator":"gt","type":"field","value":10},{"operator":"not","type":"compound","value":[{"field":"t.s","operator":"in","type":"field","value":["a","b"]}]}]}"#,
    );
    check(
        "input.t.a == input.u.b\ninput.t.c",
        Variant::All,
        r#"{"operator":"or","type":"compound","value":[{"field":"t.a","operator":"eq","type":"field","value":{"field":"u.b"}},{"field":"t.c","operator":"ne","type":"field","value":false}]}"#,
    );
    // This condition also suits consumers with fewer capabilities.
    check(
        "input.t.a in []",
        Variant::Prisma,
        r#"{"field":"t.a","operator":"in","type":"field","value":[]}"#,
    );
    check(
        "_ = input.t.a; not input.t.a in set()",
        Variant::All,
        r#"{"operator":"not","type":"compound","value":[{"field":"t.a","operator":"in","type":"field","value":[]}]}"#,
    );
    check("always", Variant::Minimal, "{}");
    check("", Variant::Minimal, "never");
}

#[test]
fn variants_are_narrower() {
    let not = r#""not" not permitted: unsupported feature "not" for "#;
    check(
        "not input.t.a == 1",
        Variant::Minimal,
        &format!("{not}UCAST"),
    );
    check(
        "not input.t.a == 1",
        Variant::Linq,
        &format!("{not}UCAST (LINQ)"),
    );
    check(
        "input.t.a == input.t.b",
        Variant::Prisma,
        "reference to field: unsupported feature \"field-ref\" for UCAST (prisma)",
    );
    check("input.t.a = _", Variant::Prisma, "{}");
    check(
        "input.t.a = _",
        Variant::All,
        "existence of field: unsupported feature \"existence-ref\" for UCAST (all)",
    );
    // Another test of the column makes the test of its existence redundant.
    check(
        r#"_ = input.t.a; not startswith(input.t.a, "x")"#,
        Variant::All,
        r#"{"operator":"not","type":"compound","value":[{"field":"t.a","operator":"startswith","type":"field","value":"x"}]}"#,
    );
    check(
        "input.t.a in [1]",
        Variant::Minimal,
        "invalid builtin `in`: unsupported for UCAST",
    );
    check(
        r#"contains(input.t.a, "x")"#,
        Variant::Linq,
        "invalid builtin `contains`: unsupported for UCAST (LINQ)",
    );
}
