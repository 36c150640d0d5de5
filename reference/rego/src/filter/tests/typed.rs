use rstest::rstest;

use super::*;
use crate::value::from_json;

const TYPES: &str = r#"{
    "t": {"s": "string", "s2": "string", "n": "number", "n2": "number", "b": "boolean"},
    "short": "string"
}"#;

/// Checks the clauses for SQLite, PostgreSQL, MySQL and SQL Server with column types.
#[track_caller]
fn check(query: &str, expected: [&str; 4]) {
    let dialects = [
        Dialect::Sqlite,
        Dialect::PostgreSql,
        Dialect::MySql,
        Dialect::SqlServer,
    ];
    let all = from_json(TYPES.as_bytes()).unwrap();
    let found = dialects.map(|dialect| {
        let target = Target::Sql(dialect);
        let types = ColumnTypes::select(&all, target).unwrap();
        let filter = filter(query).unwrap();
        written_with(&filter, target, &Mappings::default(), &types)
    });
    assert_eq!(found.each_ref().map(String::as_str), expected, "{query}");
}

#[test]
fn compares_as_a_person_would_write() {
    let same = |query, text| check(query, [text; 4]);
    same("input.t.n == 10", "WHERE t.n = 10");
    same("input.t.n != 10", "WHERE (t.n <> 10 OR t.n IS NULL)");
    same("input.t.n < 10", "WHERE (t.n < 10 OR t.n IS NULL)");
    same("input.t.n >= 10", "WHERE t.n >= 10");
    same("input.t.n in [1, 2]", "WHERE t.n IN (1, 2)");
    check(
        r#"input.t.s == "red""#,
        [
            "WHERE t.s = 'red'",
            "WHERE t.s = E'red'",
            "WHERE t.s = 'red'",
            "WHERE t.s = N'red'",
        ],
    );
    check(
        r#"input.t.s in ["10", "red"]"#,
        [
            "WHERE t.s IN ('10', 'red')",
            "WHERE t.s IN (E'10', E'red')",
            "WHERE t.s IN ('10', 'red')",
            "WHERE t.s IN (N'10', N'red')",
        ],
    );
    check(
        r#"startswith(input.t.s, "re")"#,
        [
            "WHERE substr(t.s, 1, 2) = 're'",
            "WHERE t.s LIKE E're%'",
            "WHERE t.s LIKE 're%'",
            "WHERE t.s LIKE N're%'",
        ],
    );
    check(
        r#"input.short > "red""#,
        [
            "WHERE short > 'red'",
            "WHERE short > E'red'",
            "WHERE short > 'red'",
            "WHERE short > N'red'",
        ],
    );
    check(
        "input.t.b == true",
        [
            "WHERE t.b = TRUE",
            "WHERE t.b = TRUE",
            "WHERE t.b = TRUE",
            "WHERE t.b = 1",
        ],
    );
}

#[test]
fn columns_are_equal_without_values() {
    let same = |query, text| check(query, [text; 4]);
    same(
        "input.t.s == input.t.s2",
        "WHERE (t.s = t.s2 OR (t.s IS NULL AND t.s2 IS NULL))",
    );
    same(
        "input.t.n < input.t.n2",
        "WHERE (t.n < t.n2 OR (t.n IS NULL AND t.n2 IS NOT NULL))",
    );
    same(
        "input.t.n >= input.t.n2",
        "WHERE (t.n >= t.n2 OR t.n2 IS NULL)",
    );
}

#[test]
fn the_order_of_types_decides_between_types() {
    let same = |query, text| check(query, [text; 4]);
    same("input.t.b == 1", "WHERE 1 = 0");
    same(r#"input.t.n != "10""#, "WHERE 1 = 1");
    same("input.t.n > true", "WHERE t.n IS NOT NULL");
    same("input.t.s < 5", "WHERE t.s IS NULL");
    same(r#"input.t.n < "5""#, "WHERE 1 = 1");
    same(r#"contains(input.t.n, "1")"#, "WHERE 1 = 0");
    same(r#"contains(input.t.s, "")"#, "WHERE t.s IS NOT NULL");
}

#[test]
fn what_a_database_would_change_is_looked_at() {
    check(
        r#"input.t.s == "red ""#,
        [
            "WHERE t.s = 'red '",
            "WHERE t.s = E'red '",
            "WHERE (t.s = 'red ' AND CAST(CONVERT(t.s USING utf8mb4) AS BINARY) = 'red ')",
            "WHERE (t.s = N'red ' AND CAST(t.s AS nvarchar(max)) + N'.' = N'red .' COLLATE Latin1_General_100_BIN2)",
        ],
    );
    check(
        "input.t.n == 9007199254740993",
        [
            "WHERE t.n = 9007199254740993",
            "WHERE to_jsonb(t.n) = to_jsonb(9007199254740993)",
            "WHERE t.n = 9007199254740993",
            "WHERE t.n = 9007199254740993",
        ],
    );
}

#[rstest]
#[case::unknown_type(r#"{"t": {"c": "text"}}"#, r#"t.c: unknown type "text""#)]
#[case::type_is_no_string(r#"{"t": {"c": 1}}"#, "t.c: expected string, got number")]
#[case::short_name_without_a_type(r#"{"t": null}"#, "t: expected string, got null")]
#[case::dialect_is_no_object(r#"{"mysql": []}"#, "mysql: expected object, got array")]
#[case::types_are_no_object("[]", "expected object, got array")]
fn refuses_what_is_no_type(#[case] types: &str, #[case] expected: &str) {
    let all = from_json(types.as_bytes()).unwrap();
    let found = ColumnTypes::select(&all, Target::Sql(Dialect::MySql));
    assert_eq!(found.unwrap_err(), expected);
}

#[test]
fn types_for_other_dialects_are_not_read() {
    let other = from_json(br#"{"mysql": {"t": {"c": "string"}}}"#).unwrap();
    assert!(ColumnTypes::select(&other, Target::Sql(Dialect::Sqlite)).is_ok());
}
