use std::sync::mpsc::channel;
use std::time::Duration;

use rstest::rstest;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use super::Language::{Mysql, Postgresql, Sqlserver};
use super::*;
use crate::http_client::HANG_LIMIT;

const ALL: [Language; 3] = [Postgresql, Mysql, Sqlserver];

fn found(clause: &str, language: Language) -> Result<String, FilterError> {
    let table = Table::new(
        "t",
        json!({
            "a": {"s": "apple", "n": 1, "b": true},
            "b": {"s": "Apple's", "n": 20, "b": false},
            "c": {"s": "50% a\\b_[x]", "n": 3, "b": true},
            "d": {"s": null, "n": null, "b": null},
        }),
    );
    select(clause, language, &table).map(|names| names.join(""))
}

/// Checks the rows that clauses select in each of some databases.
fn check(languages: &[Language], cases: &[(&str, &str)]) {
    for language in languages {
        for (clause, rows) in cases {
            let found = found(clause, *language);
            assert_eq!(found.as_deref(), Ok(*rows), "{language:?}: {clause}");
        }
    }
}

#[test]
fn conditions_select_rows() {
    check(
        &ALL,
        &[
            ("WHERE t.n > 3", "b"),
            ("where(n)< -1+3", "a"),
            (" n = 1 -- one", "a"),
            ("/* one */ T.N = 1", "a"),
            ("n <> 1", "bc"),
            ("n != 1", "bc"),
            ("NOT n > 1", "a"),
            ("NOT (n > 1 AND s IS NOT NULL)", "ad"),
            ("n < 2 OR n > 5 AND s = 'Apple''s'", "ab"),
            ("s IS NULL", "d"),
            ("n IN (1, 2e1)", "ab"),
            ("n NOT IN (1, 20)", "c"),
            ("n IN ('1', '20')", "ab"),
            ("n > '3'", "b"),
            ("(n + 0) < '4'", "ac"),
            ("n % 2 = 1 AND n * 2 - 1 > 2", "c"),
            ("n BETWEEN 2 AND 20", "bc"),
            ("n NOT BETWEEN '2' AND '19'", "ab"),
            ("CASE WHEN n > 1 THEN 'x' ELSE 'y' END = 'y'", "ad"),
            ("CASE n WHEN 1 THEN 5 WHEN 3 THEN 6 END > 4", "ac"),
            ("COALESCE(n, 7) = 7", "d"),
            ("NULLIF(n, 1) IS NULL", "ad"),
            ("CAST(n AS DECIMAL(9)) = 20", "b"),
        ],
    );
}

#[test]
fn texts_are_looked_into() {
    check(
        &ALL,
        &[
            ("s LIKE '%pple%'", "ab"),
            ("s NOT LIKE '%pple%'", "c"),
            ("s LIKE '%!%%!_%' ESCAPE '!'", "c"),
            ("s LIKE '_pple'", "a"),
            ("s LIKE '%''s'", "b"),
            ("LEFT(s, 2) = '50'", "c"),
            ("LEFT(s, 2 - 2) = ''", "abc"),
            ("RIGHT(s, 2) = 'le'", "a"),
            ("RIGHT(s, 99) = 'apple'", "a"),
            ("SUBSTRING(s, 2, 3) = 'ppl'", "ab"),
            ("UPPER(s) = 'APPLE'", "a"),
            ("LOWER(s) LIKE 'apple%'", "ab"),
            ("REVERSE(s) LIKE 'elp%'", "a"),
            ("REPLACE(s, 'pp', 'b') = 'able'", "a"),
            ("CONCAT(s, '!', n) = 'apple!1'", "a"),
        ],
    );
    check(
        &[Postgresql, Mysql],
        &[
            (r"s LIKE '%\\%%'", "c"),
            ("SUBSTR(s, 2) = 'pple'", "a"),
            ("SUBSTRING(s FROM 2 FOR 2) = 'pp'", "ab"),
            ("POSITION('pp' IN s) = 2", "ab"),
            ("CHAR_LENGTH(s) = 5", "a"),
            ("(n > 1) IS NOT TRUE", "ad"),
            ("(n > 1) IS NOT FALSE", "bcd"),
            ("(n > 1) IS UNKNOWN", "d"),
            ("b", "ac"),
            ("NOT b", "b"),
            ("b = TRUE", "ac"),
        ],
    );
}

#[test]
fn postgresql_is_read() {
    check(
        &[Postgresql],
        &[
            (r"s = E'Apple\'s'", "b"),
            (r"s = E'50\x25 a\\b_[x]'", "c"),
            (r"s LIKE '%a\\b%'", "c"),
            (r"s LIKE E'50\\%%'", "c"),
            (r"s LIKE '%\' ESCAPE ''", ""),
            ("s = $$apple$$", "a"),
            (r#""t"."s" = 'apple'"#, "a"),
            ("s LIKE 'a%'", "a"),
            ("s ILIKE 'a%'", "ab"),
            ("s = 'APPLE'", ""),
            ("starts_with(s, 'a')", "a"),
            ("s ^@ 'a'", "a"),
            ("strpos(s, '%') = 3", "c"),
            ("length(s) = 5", "a"),
            ("s LIKE 'app' || '%'", "a"),
            ("s::text = 'apple' AND n::int = 1", "a"),
            ("s COLLATE \"C\" < 'a'", "bc"),
            ("s IS DISTINCT FROM 'apple'", "bcd"),
            ("s IS NOT DISTINCT FROM NULL", "d"),
            ("s IS DISTINCT FROM 'apple' AND b OR n = 1", "ac"),
            (
                "NOT b AND s IS DISTINCT FROM CASE WHEN b AND b THEN 'x' END OR n = 1",
                "ab",
            ),
            (
                "CASE WHEN s IS DISTINCT FROM lower('apple') THEN b END",
                "c",
            ),
            (
                "s IS DISTINCT FROM (CASE WHEN s IS NOT DISTINCT FROM 'apple' OR b THEN s END)",
                "b",
            ),
            ("n = ANY(ARRAY[1, 3])", "ac"),
            ("n <> ALL(ARRAY[1, 3])", "b"),
            ("to_jsonb(n) IN (to_jsonb(1))", "a"),
            ("jsonb_typeof(to_jsonb(s)) = 'string'", "abc"),
            ("substring(s, -1, 4) = 'ap'", "a"),
            ("concat(s, '') = ''", "d"),
        ],
    );
}

#[test]
fn mysql_is_read() {
    check(
        &[Mysql],
        &[
            (r"s = 'Apple\'s'", "b"),
            (r#"s = "apple""#, "a"),
            (r"s = '50% a\\b_[x]'", "c"),
            (r"s LIKE '%a\\\\b%'", "c"),
            (r"s LIKE '50\%%'", "c"),
            ("`t`.`s` = 'apple'", "a"),
            ("s LIKE '%]!' ESCAPE '!' OR s LIKE '%e' ESCAPE 'e'", "a"),
            ("s LIKE 'a%'", "ab"),
            ("s = 'APPLE' # any case", "a"),
            ("s LIKE BINARY 'a%'", "a"),
            ("CAST(s AS BINARY) = 'APPLE'", ""),
            (
                "CONVERT(s USING utf8mb4) COLLATE utf8mb4_bin LIKE 'a%'",
                "a",
            ),
            ("CONVERT(s, CHAR(2)) = 'ap'", "ab"),
            ("s = _utf8mb4'apple'", "a"),
            ("s LIKE CONCAT('app', '%')", "ab"),
            ("INSTR(s, 'P') = 2", "ab"),
            ("LOCATE('p', s, 3) = 3", "ab"),
            ("LOCATE('p', s COLLATE utf8mb4_bin) = 2", "ab"),
            ("INSTR(s, _binary'P') = 0", "abc"),
            ("LENGTH(s) = 5", "a"),
            ("SUBSTR(s, -2) = 'le'", "a"),
            ("s <=> NULL", "d"),
            ("NOT (s <=> 'apple')", "bcd"),
            ("n / 2 = 1.5", "c"),
            ("IF(n > 1, 1, 0) = 1", "bc"),
            ("IFNULL(n, 0) = 0", "d"),
            ("ISNULL(n)", "d"),
            ("CONCAT(s, '') = ''", ""),
            ("JSON_ARRAY(s) LIKE '[\"%'", "abc"),
            ("n", "abc"),
        ],
    );
}

#[test]
fn sqlserver_is_read() {
    check(
        &[Sqlserver],
        &[
            ("[t].[s] = N'Apple''s'", "b"),
            (r"s = N'50% a\b_[x]'", "c"),
            ("s LIKE N'a%'", "ab"),
            ("s = N'APPLE'", "a"),
            ("s COLLATE Latin1_General_100_BIN2 LIKE N'a%'", "a"),
            (
                "CAST(s AS nvarchar(max)) + N'.' = N'apple.' COLLATE Latin1_General_BIN2",
                "a",
            ),
            ("CONVERT(varchar(2), s) = 'ap'", "ab"),
            ("CAST(s AS nchar(2)) = 'ap'", "ab"),
            ("s LIKE '%[_]%'", "c"),
            ("s LIKE '[a-c]pp%'", "ab"),
            ("s LIKE '[^a]%'", "c"),
            ("s LIKE '%[[]x]'", "c"),
            ("s LIKE '%![x]' ESCAPE '!'", "c"),
            ("s LIKE '%[x'", ""),
            ("s LIKE '%e' ESCAPE 'e'", ""),
            (r"s LIKE '%\%'", "c"),
            ("s LIKE N'app' + N'%'", "ab"),
            ("CHARINDEX('P', s) = 2", "ab"),
            ("CHARINDEX('P', s COLLATE Latin1_General_CS_AS) = 0", "abc"),
            ("CHARINDEX('', s) = 0", "abc"),
            ("LEN(s) = 5", "a"),
            ("ISNULL(n, 0) = 0", "d"),
            ("IIF(n > 1, 1, 0) = 1", "bc"),
            ("b = 1", "ac"),
            ("s IS DISTINCT FROM N'apple' AND b = 1 OR n = 1", "ac"),
            (
                "COALESCE((SELECT s AS v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER), N'{}') LIKE N'{\"v\":\"%'",
                "abc",
            ),
        ],
    );
}

#[rstest]
#[case(Postgresql, "f(s)")]
#[case(Postgresql, "pg_catalog.lower(s) = 'a'")]
#[case(Postgresql, "s ~ '^a'")]
#[case(Postgresql, "n = (SELECT max(n) FROM t)")]
#[case(Postgresql, "EXISTS (SELECT 1)")]
#[case(Postgresql, "count(n) FILTER (WHERE n > 1) = 1")]
#[case(Postgresql, "n = ANY('{1,2}')")]
#[case(Mysql, "s REGEXP '^a'")]
#[case(Mysql, "n DIV 2 = 1")]
#[case(Mysql, "1 = n div 2")]
#[case(Mysql, "n > 1 XOR b")]
#[case(Mysql, "SOUNDEX(s) = SOUNDEX('a')")]
#[case(Sqlserver, "PATINDEX('%a%', s) = 1")]
#[case(Sqlserver, "TRY_CAST(s AS int) = 1")]
#[case(Sqlserver, "n = (SELECT n AS v FOR JSON AUTO)")]
fn what_only_the_database_knows_is_not_plain(#[case] language: Language, #[case] clause: &str) {
    assert_eq!(found(clause, language), Err(NOT_PLAIN));
}

#[test]
fn what_is_not_one_condition_is_wrong() {
    let trailing = "behind the condition";
    for language in ALL {
        for (clause, reason) in [
            ("", "Expected"),
            ("WHERE", "Expected"),
            ("WHERE n = 1;", trailing),
            ("n = 1; DROP TABLE t", trailing),
            ("n = 1 LIMIT 1", trailing),
            ("n = 1 ORDER BY n", trailing),
            ("n = 1 GROUP BY n", trailing),
            ("n = 1 UNION SELECT 1", trailing),
            ("n = 1 n = 2", trailing),
            ("n = 1)", trailing),
            ("n = 1) OR (n = 2", trailing),
            ("(n = 1", "Expected"),
            ("n = ", "Expected"),
            ("s = 'open", "Unterminated"),
            ("n = 1 /* open", "Unexpected EOF"),
            ("SELECT * FROM t WHERE n = 1", ""),
            ("WHERE WHERE n = 1", ""),
            ("n == 1", "unknown operator `==`"),
            ("x = 1", "no such column: x"),
            ("u.n = 1", "no such column: u.n"),
            ("u.t.n = 1", "no such column: u.t.n"),
            ("n = ?", ""),
            (
                "s LIKE 'a' ESCAPE 'ab'",
                "invalid ESCAPE 'ab': expected one character",
            ),
        ] {
            let found = found(clause, language);
            let is_reported =
                matches!(&found, Err(FilterError::Wrong(error)) if error.contains(reason));
            assert!(is_reported, "{language:?}: {clause}: {found:?}");
        }
    }
}

#[rstest]
#[case(Postgresql, "s = \"apple\"", "no such column")]
#[case(Postgresql, "\"T\".s = 'apple'", "no such column")]
#[case(Postgresql, "s LIKE '%e' ESCAPE 'e'", "ends with its escape character")]
#[case(Postgresql, "n = $1", "the placeholder `$1` has no value")]
#[case(Postgresql, "n", "invalid condition `n`")]
#[case(Postgresql, "n = 1 OR 1", "invalid condition `1`")]
#[case(Postgresql, "s + 'x' = 'applex'", "`+` does not concatenate strings")]
#[case(Mysql, "s LIKE 'a' || '%'", "`||` does not concatenate strings")]
#[case(Postgresql, "s <=> 'apple'", "only MySQL has `<=>`")]
#[case(Mysql, "s IS DISTINCT FROM 'a'", "IS DISTINCT FROM")]
#[case(Mysql, "s ILIKE 'a'", "only PostgreSQL has ILIKE")]
#[case(Mysql, "s::char = 'a'", "only PostgreSQL has `::`")]
#[case(Mysql, "n = 1 /*! OR 1 = 1 */", "a comment that MySQL executes")]
#[case(Mysql, "n DIV", "Expected")]
#[case(Mysql, "(n DIV) = 1", "Expected")]
#[case(Mysql, "DIV 2", "Expected")]
#[case(Mysql, "t.div = 1", "no such column: t.div")]
#[case(Sqlserver, "n = @p1", "")]
#[case(Sqlserver, "n", "invalid condition `n`")]
#[case(Sqlserver, "TRUE", "no such column: TRUE")]
#[case(Sqlserver, "n = 1 AND b", "invalid condition `b`")]
#[case(Sqlserver, "(n = 1) = 1", "for SQL Server")]
#[case(Sqlserver, "(n = 1) IS NOT TRUE", "IS NOT TRUE")]
fn what_a_database_does_not_have_is_wrong(
    #[case] language: Language,
    #[case] clause: &str,
    #[case] reason: &str,
) {
    let found = found(clause, language);
    let is_reported = matches!(&found, Err(FilterError::Wrong(error)) if error.contains(reason));
    assert!(is_reported, "{found:?}");
}

/// CPU time of the calling thread.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_secs(now.tv_sec.unsigned_abs())
        + Duration::from_nanos(now.tv_nsec.unsigned_abs())
}

/// Returns the CPU time of a clause, on a separate thread; `None` if its evaluation does not end.
fn cost(clause: &str, language: Language) -> Option<Duration> {
    let (sender, spent) = channel();
    let clause = clause.to_owned();
    std::thread::spawn(move || {
        let before = thread_time();
        // Only the time matters, not the rows.
        let _ = found(&clause, language);
        // Nobody receives the time of a clause that took too long.
        let _ = sender.send(thread_time().saturating_sub(before));
    });
    spent.recv_timeout(HANG_LIMIT).ok()
}

/// Maximum cost of a hostile clause, as a multiple of the cost of a plain clause of usual length. A
/// clause that reaches SQLite's instruction limit costs a few hundred times as much as the plain
/// one.
const TIMES: u32 = 2_000;

#[test]
fn hostile_clauses_cost_little() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let clauses = [
        "x".repeat(20_000),
        nested("(", "n = 1", ")", 5_000),
        nested("NOT ", "n = 1", "", 3_000),
        nested("1 + ", "n = 1", "", 3_000),
        nested("1+", "n=1", "", 1_900),
        nested("n = 1 AND ", "n = 1", "", 900),
        nested("", "n::int", "::int", 1_000),
        nested("lower(", "s", ")", 8),
        nested("coalesce(1, ", &"n = 1 AND ".repeat(800), "TRUE)", 8),
        nested("lower(", "s", ")", 45),
        nested("lower (", "s", ")", 45),
        nested("INTERVAL ", "1", "", 45),
        nested("lower(", "s", ")", 2_000),
        nested("CASE WHEN ", "n = 1", " THEN 1 END", 40),
        nested("n IN (", "1", ")", 45),
        nested("(SELECT ", "1", ")", 45),
        nested("EXISTS (SELECT 1 FROM ", "t", ")", 45),
        nested("EXISTS (SELECT 1 FROM (", "t", "))", 45),
        format!("EXISTS (SELECT 1 FROM {})", nested("(", "t", ")", 45)),
        nested("CAST(", "n", " AS int)", 45),
        nested("[", "n", "]", 45),
        format!("s LIKE '{}'", "%a_".repeat(5_000)),
        format!("s LIKE '{}'", "[a-z]".repeat(3_000)),
        format!("n IN ({}1)", "1, ".repeat(1_900)),
    ];
    let ordinary = nested("n = 1 AND ", "n = 1", "", 50);
    for language in ALL {
        let limit = cost(&ordinary, language).unwrap_or_default() * TIMES;
        for clause in &clauses {
            let spent = cost(clause, language);
            let excerpt: String = clause.chars().take(40).collect();
            assert!(
                spent.is_some_and(|spent| spent < limit),
                "{language:?}: {excerpt}: {spent:?} of {limit:?}"
            );
        }
    }
}
