use rstest::rstest;

use super::*;

/// Checks the clauses for SQLite, PostgreSQL, MySQL and SQL Server.
#[track_caller]
fn check(queries: &str, expected: [&str; 4]) {
    let dialects = [
        Dialect::Sqlite,
        Dialect::PostgreSql,
        Dialect::MySql,
        Dialect::SqlServer,
    ];
    let found = dialects.map(|dialect| {
        let filter = filter(queries).unwrap();
        written(&filter, Target::Sql(dialect), &Mappings::default())
    });
    assert_eq!(found.each_ref().map(String::as_str), expected, "{queries}");
}

#[test]
fn compares_with_constants() {
    check(
        "input.t.n == 10",
        [
            "WHERE (t.n = 10 AND typeof(t.n) <> 'text')",
            "WHERE t.n = 10",
            r#"WHERE (t.n = 10 AND JSON_ARRAY(t.n) NOT LIKE '["%')"#,
            r#"WHERE (t.n = 10 AND COALESCE((SELECT t.n AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') NOT LIKE N'{"v":"%')"#,
        ],
    );
    check(
        "not input.t.n > 1.5e1",
        [
            "WHERE (+t.n <= 15 OR t.n IS NULL)",
            "WHERE (t.n <= 15 OR t.n IS NULL)",
            r#"WHERE (t.n IS NULL OR (t.n <= 15 AND JSON_ARRAY(t.n) NOT LIKE '["%'))"#,
            r#"WHERE (t.n IS NULL OR (t.n <= 15 AND COALESCE((SELECT t.n AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') NOT LIKE N'{"v":"%'))"#,
        ],
    );
    check(
        r#"input.t.s == "it's""#,
        [
            "WHERE t.s = 'it''s' COLLATE BINARY",
            "WHERE t.s = E'it''s'",
            "WHERE (t.s = 'it''s' AND CAST(CONVERT(t.s USING utf8mb4) AS BINARY) = 'it''s')",
            "WHERE (t.s = N'it''s' AND CAST(t.s AS nvarchar(max)) + N'.' = N'it''s.' COLLATE Latin1_General_100_BIN2)",
        ],
    );
    check(
        r#"input.t.s != "10""#,
        [
            "WHERE +t.s IS NOT '10' COLLATE BINARY",
            "WHERE (t.s IS NULL OR t.s::text <> E'10' OR jsonb_typeof(to_jsonb(t.s)) <> 'string')",
            r#"WHERE (t.s IS NULL OR NOT (t.s = '10' AND CAST(CONVERT(t.s USING utf8mb4) AS BINARY) = '10' AND JSON_ARRAY(t.s) LIKE '["%'))"#,
            r#"WHERE (t.s IS NULL OR NOT (t.s = N'10' AND CAST(t.s AS nvarchar(max)) + N'.' = N'10.' COLLATE Latin1_General_100_BIN2 AND COALESCE((SELECT t.s AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') LIKE N'{"v":"%'))"#,
        ],
    );
    check("input.t.x < null", ["never"; 4]);
    check("input.t.x >= null", [""; 4]);
    check("input.t.x == null", ["WHERE t.x IS NULL"; 4]);
    check("not null == input.t.x", ["WHERE t.x IS NOT NULL"; 4]);
}

#[test]
fn strings_end_where_they_should() {
    check(
        r#"input.t.s == "é\\' OR TRUE --""#,
        [
            r"WHERE t.s = 'é\'' OR TRUE --' COLLATE BINARY",
            r"WHERE t.s = E'\U000000E9\\'' OR TRUE --'",
            "WHERE (t.s = _utf8mb4 X'C3A95C27204F522054525545202D2D' AND CAST(CONVERT(t.s USING utf8mb4) AS BINARY) = _utf8mb4 X'C3A95C27204F522054525545202D2D')",
            r"WHERE (t.s = N'é\'' OR TRUE --' AND CAST(t.s AS nvarchar(max)) + N'.' = N'é\'' OR TRUE --.' COLLATE Latin1_General_100_BIN2)",
        ],
    );
    check(
        r#"input.t.s == "é'\n""#,
        [
            "WHERE t.s = 'é''\n' COLLATE BINARY",
            r"WHERE t.s = E'\U000000E9''\n'",
            "WHERE (t.s = _utf8mb4 X'C3A9270A' AND CAST(CONVERT(t.s USING utf8mb4) AS BINARY) = _utf8mb4 X'C3A9270A')",
            "WHERE (t.s = N'é''\n' AND CAST(t.s AS nvarchar(max)) + N'.' = N'é''\n.' COLLATE Latin1_General_100_BIN2)",
        ],
    );
}

#[test]
fn lines_are_not_joined_in_strings() {
    check(
        r#"startswith(input.t.s, "a\\\n")"#,
        [
            "WHERE (substr(t.s, 1, 3) = 'a\\\n' AND typeof(t.s) = 'text')",
            r"WHERE t.s LIKE E'a\\\n%' ESCAPE '!'",
            r#"WHERE (CONVERT(t.s USING utf8mb4) COLLATE utf8mb4_bin LIKE _utf8mb4 X'615C0A25' ESCAPE '!' AND JSON_ARRAY(t.s) LIKE '["%')"#,
            "WHERE (CAST(t.s AS nvarchar(max)) COLLATE Latin1_General_100_BIN2 LIKE (N'a\\' + N'\n%') ESCAPE '!' AND COALESCE((SELECT t.s AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') LIKE N'{\"v\":\"%')",
        ],
    );
}

#[test]
fn compares_columns_and_lists() {
    check(
        "not input.t.x in [1, null]",
        [
            "WHERE (t.x IS NOT NULL AND NOT (t.x IN (1) AND typeof(t.x) <> 'text'))",
            "WHERE (t.x IS NOT NULL AND NOT (t.x IN (1)))",
            r#"WHERE (t.x IS NOT NULL AND NOT (t.x IN (1) AND JSON_ARRAY(t.x) NOT LIKE '["%'))"#,
            r#"WHERE (t.x IS NOT NULL AND NOT (t.x IN (1) AND COALESCE((SELECT t.x AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') NOT LIKE N'{"v":"%'))"#,
        ],
    );
    check("input.t.x in [null]", ["WHERE t.x IS NULL"; 4]);
    check("input.t.x in []", ["WHERE 1 = 0"; 4]);
    check("not input.t.x in set()", ["WHERE 1 = 1"; 4]);
    check(
        "input.t.x in []; input.t.y == null",
        ["WHERE (1 = 0 AND t.y IS NULL)"; 4],
    );
    check("input.t.x != input.t.x", ["never"; 4]);
}

#[test]
fn joins_conditions() {
    let expected = [
        "WHERE ((order_.a IS NULL AND order_.b IS NOT NULL) OR order_.c IS NULL)",
        "WHERE ((order_.a IS NULL AND order_.b IS NOT NULL) OR order_.c IS NULL)",
        "WHERE ((order_.a IS NULL AND order_.b IS NOT NULL) OR order_.c IS NULL)",
        "WHERE ((order_.a IS NULL AND order_.b IS NOT NULL) OR order_.c IS NULL)",
    ];
    check(
        "input.order_.a == null; input.order_.b != null\ninput.order_.c == null",
        expected,
    );
    check("input.t.a == null\nalways", [""; 4]);
    check("", ["never"; 4]);
}

#[test]
fn quotes_names() {
    check(
        r#"input.order["a\"`b"] == null"#,
        [
            r#"WHERE "order"."a""`b" IS NULL"#,
            r#"WHERE "order"."a""`b" IS NULL"#,
            r#"WHERE `order`.`a"``b` IS NULL"#,
            r#"WHERE "order"."a""`b" IS NULL"#,
        ],
    );
    check(
        r#"input["a.b"].Cc_1 == null"#,
        [
            r#"WHERE "a.b".Cc_1 IS NULL"#,
            r#"WHERE "a.b".Cc_1 IS NULL"#,
            "WHERE `a.b`.Cc_1 IS NULL",
            r#"WHERE "a.b".Cc_1 IS NULL"#,
        ],
    );
    check(
        r#"input.t["\u0000"] == null"#,
        [r#"invalid name of a column: "t.\0""#; 4],
    );
}

#[test]
fn looks_for_texts() {
    check(
        r#"startswith(input.t.s, "50%")"#,
        [
            "WHERE (substr(t.s, 1, 3) = '50%' AND typeof(t.s) = 'text')",
            "WHERE t.s LIKE E'50!%%' ESCAPE '!'",
            r#"WHERE (CONVERT(t.s USING utf8mb4) COLLATE utf8mb4_bin LIKE '50!%%' ESCAPE '!' AND JSON_ARRAY(t.s) LIKE '["%')"#,
            r#"WHERE (CAST(t.s AS nvarchar(max)) COLLATE Latin1_General_100_BIN2 LIKE N'50!%%' ESCAPE '!' AND COALESCE((SELECT t.s AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') LIKE N'{"v":"%')"#,
        ],
    );
}

#[rstest]
#[case::zero_at_the_end("1.50", "WHERE t.n > 1.50")]
#[case::thousand("1e3", "WHERE t.n > 1000")]
#[case::fraction_times_thousand("-1.5e3", "WHERE t.n > -1500")]
#[case::fraction_times_hundred("1.2345e2", "WHERE t.n > 123.45")]
#[case::tenths("12e-1", "WHERE t.n > 1.2")]
#[case::thousandths("-5e-3", "WHERE t.n > -0.005")]
// A column of doubles would be compared with a double.
#[case::more_digits_than_a_double(
    "123456789012345678901234567890",
    "WHERE (jsonb_typeof(to_jsonb(t.n)) = 'string' OR (jsonb_typeof(to_jsonb(t.n)) = 'number' \
     AND to_jsonb(t.n) > to_jsonb(123456789012345678901234567890)))"
)]
#[case::too_many_digits("1e5000", "number with too many digits: 1e5000")]
fn writes_numbers_in_digits(#[case] number: &str, #[case] expected: &str) {
    let filter = filter(&format!("input.t.n > {number}")).unwrap();
    let target = Target::Sql(Dialect::PostgreSql);
    assert_eq!(written(&filter, target, &Mappings::default()), expected);
}

#[rstest]
#[case::exponent("input.t.n > 1e1", "WHERE +t.n > 10")]
#[case::tenth("input.t.n > 0.1", "WHERE +t.n > 0.1")]
#[case::more_than_nearly_a_tenth("input.t.n > 0.10000000000000000001", "WHERE +t.n > 1e-1")]
#[case::less_than_nearly_a_tenth(
    "input.t.n < 0.10000000000000000001",
    "WHERE (+t.n <= 1e-1 OR t.n IS NULL)"
)]
#[case::exactly_nearly_a_tenth("input.t.n == 0.10000000000000000001", "WHERE 1 = 0")]
#[case::at_least_a_half_beyond_doubles(
    "input.t.n >= 9007199254740993.5",
    "WHERE +t.n > 9007199254740993"
)]
#[case::more_than_a_negative_half_beyond_doubles(
    "input.t.n > -9007199254740993.5",
    "WHERE +t.n >= -9007199254740993"
)]
#[case::less_than_beyond_doubles("input.t.n < 1e400", "WHERE (+t.n < 9e999 OR t.n IS NULL)")]
#[case::more_than_beyond_negative_doubles("input.t.n > -1e400", "WHERE +t.n > -9e999")]
#[case::at_least_beyond_integers(
    "input.t.n >= -9223372036854775809",
    "WHERE +t.n >= -9223372036854775808"
)]
#[case::less_than_beyond_integers(
    "input.t.n < -9223372036854775809",
    "WHERE (+t.n < -9223372036854775808 OR t.n IS NULL)"
)]
#[case::exactly_beyond_integers("input.t.n == -9223372036854776000", "WHERE 1 = 0")]
fn compares_with_the_nearest_number(#[case] query: &str, #[case] expected: &str) {
    let filter = filter(query).unwrap();
    let target = Target::Sql(Dialect::Sqlite);
    assert_eq!(written(&filter, target, &Mappings::default()), expected);
}
